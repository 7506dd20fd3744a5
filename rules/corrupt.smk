# corrupt: every picture of the pool under one corruption; recipe, hash and distortion.


rule corrupt:
    input:
        images="results/pool/images.parquet",
        earlier=lambda wildcards: REMAKING("corrupt", wildcards),
    output:
        "results/corrupt/{corruption}.parquet",
    log:
        "results/logs/corrupt/{corruption}.log",
    wildcard_constraints:
        corruption=RUN.one_of(RUN.config.corruptions),
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        seed=RUN.config.seed,
        severities=RUN.severity_options,
        options=RUN.corrupt_options,
        identity=lambda wildcards: RUN.identity("corrupt", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " corrupt render {wildcards.corruption} --images {input.images}"
        " --seed {params.seed} {params.severities} {params.options} --workers {threads}"
        " --out {output}"

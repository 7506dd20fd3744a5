# pool: the candidate samples of every source, merged; what is left out is in `rejected`.


rule pool_source:
    input:
        fetched=lambda wildcards: RUN.record_of(RUN.config.sources[wildcards.source]),
        earlier=lambda wildcards: REMAKING("pool_source", wildcards),
    output:
        samples="results/pool/sources/{source}/samples.parquet",
        images="results/pool/sources/{source}/images.parquet",
        rejected="results/pool/sources/{source}/rejected.parquet",
        scenes="results/pool/sources/{source}/scenes.parquet",
    log:
        "results/logs/pool/{source}.log",
    wildcard_constraints:
        source=RUN.one_of(RUN.config.sources),
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        spec=lambda wildcards: RUN.settings_file("sources", wildcards.source),
    params:
        fetched=lambda wildcards, input: RUN.fetched_option(input.fetched),
        out=subpath(output.samples, parent=True),
        identity=lambda wildcards: RUN.identity("pool_source", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " pool source {wildcards.source} --spec {resources.spec:q}"
        " {params.fetched} --out {params.out}"


rule pool:
    input:
        samples=RUN.each_source("results/pool/sources/{source}/samples.parquet"),
        others=RUN.each_source("results/pool/sources/{source}/images.parquet")
        + RUN.each_source("results/pool/sources/{source}/rejected.parquet")
        + RUN.each_source("results/pool/sources/{source}/scenes.parquet"),
        earlier=lambda wildcards: REMAKING("pool", wildcards),
    output:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        rejected="results/pool/rejected.parquet",
        scenes="results/pool/scenes.parquet",
    log:
        "results/logs/pool/merge.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        folders=lambda wildcards, input: [Path(path).parent for path in input.samples],
        out=subpath(output.samples, parent=True),
        identity=lambda wildcards: RUN.identity("pool", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} pool merge {params.folders:q}"
        " --out {params.out}"

# pool: the candidate samples of every source, merged; what is left out is in `rejected`.


rule pool_source:
    input:
        lambda wildcards: RUN.source_files(wildcards.source),
    output:
        samples="results/pool/sources/{source}/samples.parquet",
        images="results/pool/sources/{source}/images.parquet",
        rejected="results/pool/sources/{source}/rejected.parquet",
        scenes="results/pool/sources/{source}/scenes.parquet",
    log:
        "results/logs/pool/{source}.log",
    wildcard_constraints:
        source="|".join(map(re.escape, RUN.config.sources)),
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        spec=lambda wildcards: RUN.source_spec(wildcards.source),
        fetched=lambda wildcards: RUN.fetched_option(
            RUN.config.sources[wildcards.source]
        ),
        code=RUN.code("pool"),
    shell:
        "benchc --log {log} pool source {wildcards.source} --spec {params.spec:q}"
        " {params.fetched} --out results/pool/sources/{wildcards.source}"


rule pool:
    input:
        RUN.each_source("results/pool/sources/{source}/samples.parquet"),
        RUN.each_source("results/pool/sources/{source}/images.parquet"),
        RUN.each_source("results/pool/sources/{source}/rejected.parquet"),
        RUN.each_source("results/pool/sources/{source}/scenes.parquet"),
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
        folders=RUN.each_source("results/pool/sources/{source}"),
        code=RUN.code("pool"),
    shell:
        "benchc --log {log} pool merge {params.folders:q} --out results/pool"

# embed: CLIP vectors of each sample's picture and text, for the diversity of the selection.


rule embed:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        fetched=RUN.record_of(RUN.config.embed),
        earlier=lambda wildcards: REMAKING("embed", wildcards),
    output:
        "results/embed/embeddings.parquet",
    log:
        "results/logs/embed.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        settings=RUN.settings_file("embed"),
    params:
        fetched=lambda wildcards, input: RUN.fetched_option(input.fetched),
        threads=RUN.config.infer.threads,
        identity=lambda wildcards: RUN.identity("embed", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " embed samples --samples {input.samples} --images {input.images}"
        " --settings {resources.settings:q} {params.fetched} --threads {params.threads} --out {output}"

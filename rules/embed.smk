# embed: CLIP vectors of each sample's picture and text, for the diversity of the selection.


rule embed:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        fetched=RUN.record_of(RUN.config.embed),
    output:
        "results/embed/embeddings.parquet",
    log:
        "results/logs/embed.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        model=lambda wildcards, input: RUN.clip(input.fetched),
        fingerprint=RUN.clip_fingerprint,
        pretrained=RUN.clip_options,
        threads=RUN.config.infer.threads,
        code=RUN.code("embed"),
    shell:
        "benchc --log {log} embed samples --samples {input.samples} --images {input.images}"
        " --model {params.model:q} {params.pretrained} --threads {params.threads} --out {output}"

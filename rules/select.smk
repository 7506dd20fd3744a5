# select: the samples whose answers move, no two of them alike.


rule select:
    input:
        samples="results/pool/samples.parquet",
        embeddings="results/embed/embeddings.parquet",
        predictions=RUN.each_selector("results/infer/{model}/predictions.parquet"),
        earlier=lambda wildcards: REMAKING("select", wildcards),
    output:
        selection="results/select/selection.parquet",
        quotas="results/select/quotas.parquet",
        halves="results/select/cross_fit_halves.parquet",
        cross_fit="results/select/cross_fit_samples.parquet",
    log:
        "results/logs/select.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        predictions=lambda wildcards, input: RUN.option(
            "--predictions", input.predictions
        ),
        options=RUN.select_options,
        before=(RUN.results / "bench-c.duckdb").as_posix(),
        identity=lambda wildcards: RUN.identity("select", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} select build --samples {input.samples}"
        " --embeddings {input.embeddings} {params.predictions} {params.options}"
        " --quotas {output.quotas} --halves {output.halves} --cross-fit {output.cross_fit}"
        " --before {params.before:q} --out {output.selection}"

# select: the samples whose answers move, no two of them alike.


rule select:
    input:
        samples="results/pool/samples.parquet",
        embeddings="results/embed/embeddings.parquet",
        predictions=RUN.each_selector("results/infer/{model}/predictions.parquet"),
    output:
        "results/select/selection.parquet",
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
        code=RUN.code("select"),
    shell:
        "benchc --log {log} select build --samples {input.samples}"
        " --embeddings {input.embeddings} {params.predictions} {params.options} --out {output}"

# diagnose: what each corruption did to each model, and the database that answers in SQL.


rule diagnose_model:
    input:
        predictions="results/infer/{model}/predictions.parquet",
        samples="results/pool/samples.parquet",
        selection="results/select/selection.parquet",
        earlier=lambda wildcards: REMAKING("diagnose_model", wildcards),
    output:
        shifts="results/models/{model}/diagnosis.parquet",
        scores="results/models/{model}/scores.parquet",
    log:
        "results/logs/diagnose/{model}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.config.models),
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        identity=lambda wildcards: RUN.identity("diagnose_model", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " diagnose model --key {wildcards.model} --predictions {input.predictions}"
        " --samples {input.samples} --selection {input.selection} --scores {output.scores}"
        " --out {output.shifts}"


rule database:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        rejected="results/pool/rejected.parquet",
        selection="results/select/selection.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        predictions=RUN.each_model("results/infer/{model}/predictions.parquet"),
        records=RUN.each_model("results/infer/{model}/run.json"),
        scores=RUN.each_model("results/models/{model}/scores.parquet"),
        shifts=RUN.each_model("results/models/{model}/diagnosis.parquet"),
        earlier=lambda wildcards: REMAKING("database", wildcards),
    output:
        "results/.built/bench-c.duckdb",
    log:
        "results/logs/diagnose/database.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        models=RUN.settings_file("models"),
        run=RUN.settings_file("run"),
    params:
        tables=lambda wildcards, input: [
            *RUN.option("--corrupted", input.corrupted),
            *RUN.option("--predictions", input.predictions),
            *RUN.option("--record", input.records),
            *RUN.option("--scores", input.scores),
            *RUN.option("--shifts", input.shifts),
        ],
        place=lambda wildcards, output: RUN.place_of(output[0]),
        columns=RUN.option("--column", RUN.config.diagnose.columns),
        seed=RUN.config.seed,
        identity=lambda wildcards: RUN.identity("database", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} diagnose build --samples {input.samples} --images {input.images}"
        " --rejected {input.rejected} --selection {input.selection} {params.tables}"
        " --models {resources.models:q} --run {resources.run:q} --seed {params.seed} --out {output}"
        " --place {params.place:q} {params.columns}"

# diagnose: what each corruption did to each model, and the database that answers in SQL.


rule diagnose_model:
    input:
        predictions="results/infer/{model}/predictions.parquet",
        samples="results/pool/samples.parquet",
        selection="results/select/selection.parquet",
    output:
        "results/models/{model}/diagnosis.parquet",
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
        code=RUN.code("diagnose"),
    shell:
        "benchc --log {log} diagnose model --key {wildcards.model} --predictions {input.predictions}"
        " --samples {input.samples} --selection {input.selection} --out {output}"


rule database:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        rejected="results/pool/rejected.parquet",
        selection="results/select/selection.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        predictions=RUN.each_model("results/infer/{model}/predictions.parquet"),
        records=RUN.each_model("results/infer/{model}/run.json"),
        shifts=RUN.each_model("results/models/{model}/diagnosis.parquet"),
    output:
        "results/bench-c.duckdb",
    log:
        "results/logs/diagnose/database.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        tables=lambda wildcards, input: [
            *RUN.option("--corrupted", input.corrupted),
            *RUN.option("--predictions", input.predictions),
            *RUN.option("--record", input.records),
            *RUN.option("--shifts", input.shifts),
        ],
        models=RUN.models_facts(),
        run=RUN.run_facts(),
        seed=RUN.config.seed,
        code=RUN.code("diagnose"),
    shell:
        "benchc --log {log} diagnose build --samples {input.samples} --images {input.images}"
        " --rejected {input.rejected} --selection {input.selection} {params.tables}"
        " --models {params.models:q} --run {params.run:q} --seed {params.seed} --out {output}"

# infer: one model's option probabilities; selectors see the whole pool, others what was chosen.


rule infer_pool:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
    output:
        predictions="results/infer/{model}/predictions.parquet",
        record="results/infer/{model}/run.json",
    log:
        "results/logs/infer/{model}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.config.selectors),
    conda:
        "../envs/benchc.yaml"
    threads: RUN.config.infer.threads
    resources:
        mem_mb=3000,
        runtime=600,
    params:
        # Asks for `threads` so that it triggers no rerun: `fingerprint` says what counts.
        settings=lambda wildcards, threads: RUN.model_settings(wildcards.model),
        fingerprint=lambda wildcards: RUN.model_fingerprint(wildcards.model),
        fetched=lambda wildcards: RUN.fetched_option(RUN.config.models[wildcards.model]),
        corrupted=RUN.each_corruption(
            "--corrupted results/corrupt/{corruption}.parquet"
        ),
        options=RUN.render_options,
        code=RUN.code("infer"),
    shell:
        "benchc --log {log} infer predict {wildcards.model} --settings {params.settings:q}"
        " {params.fetched} --samples {input.samples} --images {input.images} {params.corrupted}"
        " {params.options} --out {output.predictions}"


use rule infer_pool as infer_chosen with:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        selection="results/select/selection.parquet",
    wildcard_constraints:
        model=RUN.one_of(RUN.followers),
    params:
        settings=lambda wildcards, threads: RUN.model_settings(wildcards.model),
        fingerprint=lambda wildcards: RUN.model_fingerprint(wildcards.model),
        fetched=lambda wildcards: RUN.fetched_option(RUN.config.models[wildcards.model]),
        corrupted=RUN.each_corruption(
            "--corrupted results/corrupt/{corruption}.parquet"
        ),
        options=f"{RUN.render_options} --selection results/select/selection.parquet",
        code=RUN.code("infer"),

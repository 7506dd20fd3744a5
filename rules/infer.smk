# infer: one model's option probabilities; selectors see the whole pool, others what was chosen.
# A model with `shards` is asked by several jobs, whose predictions are then put together.


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
        model=RUN.one_of(RUN.whole(RUN.config.selectors)),
    conda:
        "../envs/benchc.yaml"
    threads: RUN.config.infer.threads
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 600 * attempt,
        gpu=lambda wildcards: RUN.gpus(wildcards.model),
    params:
        # What asks for `threads` or `input` triggers no rerun: `fingerprint` says what counts.
        fingerprint=lambda wildcards: RUN.model_fingerprint(wildcards.model),
        settings=lambda wildcards, threads: RUN.model_settings(wildcards.model),
        workers=lambda wildcards, threads: RUN.config.infer.workers,
        fetched=lambda wildcards, input: RUN.fetched_option(input.model),
        corrupted=lambda wildcards, input: RUN.option("--corrupted", input.corrupted),
        options=RUN.infer_options,
        chosen=lambda wildcards, input: RUN.option(
            "--selection", input.get("selection", [])
        ),
        shard=lambda wildcards, output: RUN.shard_options(wildcards, output.predictions),
        code=RUN.code("infer"),
    shell:
        "benchc --log {log} --gpus {resources.gpu} infer predict {wildcards.model}"
        " --settings {params.settings:q}"
        " {params.fetched} --samples {input.samples} --images {input.images} {params.corrupted}"
        " {params.options} {params.chosen} {params.shard} --workers {params.workers}"
        " --out {output.predictions}"


use rule infer_pool as infer_chosen with:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        selection=lambda wildcards: RUN.selection_of(wildcards.model),
    wildcard_constraints:
        model=RUN.one_of(RUN.whole(RUN.followers)),


use rule infer_pool as infer_shard with:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        selection=lambda wildcards: RUN.selection_of(wildcards.model),
    output:
        predictions="results/infer/{model}/shards/{shard}-of-{shards}/predictions.parquet",
        record="results/infer/{model}/shards/{shard}-of-{shards}/run.json",
    log:
        "results/logs/infer/{model}.{shard}-of-{shards}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.sharded(RUN.config.models)),
        shard=r"\d+",
        shards=r"\d+",


rule infer_merge:
    input:
        lambda wildcards: RUN.each_shard(
            wildcards.model,
            "results/infer/{model}/shards/{shard}-of-{shards}/predictions.parquet",
        ),
    output:
        predictions="results/infer/{model}/predictions.parquet",
        record="results/infer/{model}/run.json",
    log:
        "results/logs/infer/{model}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.sharded(RUN.config.models)),
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        parts=lambda wildcards, input: RUN.option("--part", input),
        code=RUN.code("infer_merge"),
    shell:
        "benchc --log {log} infer merge {wildcards.model} {params.parts}"
        " --out {output.predictions}"

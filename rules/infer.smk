# infer: one model's option probabilities; selectors see the whole pool, others what was chosen
# (but all of them the whole pool where that is the headline).
# A model with `shards` is asked by several jobs, whose predictions are then put together.


rule infer_pool:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        earlier=lambda wildcards: REMAKING("infer", wildcards),
    output:
        predictions="results/infer/{model}/predictions.parquet",
        record="results/infer/{model}/run.json",
    log:
        "results/logs/infer/{model}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.whole(RUN.on_pool)),
    conda:
        "../envs/benchc.yaml"
    threads: RUN.config.infer.threads
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 600 * attempt,
        gpu=lambda wildcards: RUN.gpus(wildcards.model),
        workers=RUN.config.infer.workers,
        settings=lambda wildcards: RUN.settings_file("models", wildcards.model),
    params:
        fetched=lambda wildcards, input: RUN.fetched_option(input.model),
        corrupted=lambda wildcards, input: RUN.option("--corrupted", input.corrupted),
        options=RUN.infer_options,
        chosen=lambda wildcards, input: RUN.option(
            "--selection", input.get("selection", [])
        ),
        attempt=lambda wildcards: RUN.attempt(wildcards),
        shard=lambda wildcards, output: RUN.shard_options(wildcards, output.predictions),
        identity=lambda wildcards: RUN.identity("infer", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} --gpus {resources.gpu}"
        " infer predict {wildcards.model} --settings {resources.settings:q}"
        " {params.fetched} --samples {input.samples} --images {input.images} {params.corrupted}"
        " {params.options} {params.chosen} {params.shard} --attempt {params.attempt}"
        " --workers {resources.workers} --out {output.predictions}"


use rule infer_pool as infer_chosen with:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        selection=lambda wildcards: RUN.selection_of(wildcards.model),
        earlier=lambda wildcards: REMAKING("infer", wildcards),
    wildcard_constraints:
        model=RUN.one_of(RUN.whole(RUN.followers)),


use rule infer_pool as infer_shard with:
    input:
        samples="results/pool/samples.parquet",
        images="results/pool/images.parquet",
        corrupted=RUN.each_corruption("results/corrupt/{corruption}.parquet"),
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
        selection=lambda wildcards: RUN.selection_of(wildcards.model),
        earlier=lambda wildcards: REMAKING("infer_shard", wildcards),
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
        parts=lambda wildcards: RUN.each_shard(
            wildcards.model,
            "results/infer/{model}/shards/{shard}-of-{shards}/predictions.parquet",
        ),
        earlier=lambda wildcards: REMAKING("infer_merge", wildcards),
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
        parts=lambda wildcards, input: RUN.option("--part", input.parts),
        identity=lambda wildcards: RUN.identity("infer_merge", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " infer merge {wildcards.model} {params.parts} --out {output.predictions}"

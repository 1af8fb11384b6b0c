/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of decoders, a row for each: its number and kind, then its name, bounds and meaning, as the macros of
 * data/choice_rows.h take them. choices.h makes the numbers of it, and choices.c the table; docs/family.md and
 * family.schema.json are generated from that. No include guard, as both include it. */
CHOICE(D_CLASS_CAUSAL_LM, NAME, "class.causal_lm", NULLABLE, NULL, "the root that generates text; PREFIXForCausalLM")
CHOICE(D_CLASS_MASKED_LM, NAME, "class.masked_lm", NULLABLE, NULL,
       "the root that predicts masked tokens, with the head of class.causal_lm; makes the family one of encoders; "
       "null: none")
CHOICE(D_CLASS_SEQUENCES, NAME, "class.sequences", NULLABLE, NULL,
       "the root that classifies sequences; PREFIXForSequenceClassification")
CHOICE(D_CLASS_TOKENS, NAME, "class.tokens", NULLABLE, NULL,
       "the root that classifies tokens; PREFIXForTokenClassification")
CHOICE(D_CLASS_ANSWERS, NAME, "class.answers", NULLABLE, NULL,
       "the root that answers questions; PREFIXForQuestionAnswering")
CHOICE(D_CLASS_MODEL, NAME, "class.model", NULLABLE, NULL, "the model without its head; PREFIXModel")
CHOICE(D_CLASS_BASE_MODEL, NAME, "class.base_model", NULLABLE, NULL, "the class below the head; class.model")
CHOICE(D_CLASS_LAYER, NAME, "class.layer", NULLABLE, NULL, "a layer; PREFIXDecoderLayer")
CHOICE(D_CLASS_ATTENTION, NAME, "class.attention", NULLABLE, NULL, "attention; PREFIXAttention")
CHOICE(D_CLASS_MLP, NAME, "class.mlp", NULLABLE, NULL, "a dense MLP; PREFIXMLP")
CHOICE(D_CLASS_NORM, NAME, "class.norm", NULLABLE, NULL, "norms; PREFIXRMSNorm, or LayerNorm with norm.kind layer")
CHOICE(D_CLASS_HEAD_NORM, NAME, "class.head_norm", NULLABLE, NULL, "norms of queries and keys; class.norm")
CHOICE(D_CLASS_LAST_NORM, NAME, "class.last_norm", NULLABLE, NULL, "the norm after the layers; class.norm")
CHOICE(D_CLASS_ROTARY, NAME, "class.rotary", NULLABLE, NULL, "rotary angles; PREFIXRotaryEmbedding")
CHOICE(D_CLASS_EMBEDDING, NAME, "class.embedding", 0, "Embedding",
       "token embeddings; any other class is multiplied by the root of its width, rounded to bf16 in bf16 models")
CHOICE(D_CLASS_MOE, NAME, "class.moe", NULLABLE, NULL, "the block of experts; PREFIXSparseMoeBlock")
CHOICE(D_CLASS_ROUTER, NAME, "class.router", NULLABLE, NULL, "the router; PREFIXTopKRouter")
CHOICE(D_CLASS_EXPERTS, NAME, "class.experts", NULLABLE, NULL, "the experts; PREFIXExperts")
CHOICE(D_CLASS_MIXER, NAME, "class.mixer", NULLABLE, NULL, "replaces attention in layers where layer.mixed is true")
CHOICE(D_CLASS_GATED_NORM, NAME, "class.gated_norm", NULLABLE, NULL, "a mixer's gated norm of its recurrence's output")
CHOICE(D_CLASS_STEP_NORM, NAME, "class.step_norm", NULLABLE, NULL,
       "norms of steps, B and C (mixer.step_norms); class.norm")
CHOICE(D_CLASS_CONDITIONAL, NAME, "class.conditional", NULLABLE, NULL,
       "the root that generates text from an encoder's output, in families with one; PREFIXForConditionalGeneration")
CHOICE(D_CLASS_CROSS_ATTENTION, NAME, "class.cross_attention", NULLABLE, NULL,
       "attention to the encoder's output; PREFIXCrossAttention")

CHOICE(D_VOCAB_SIZE, INT, "vocab_size", 0, 1, MAX_VOCABULARY, "vocab_size", "rows of the token embeddings")
CHOICE(D_HIDDEN_SIZE, INT, "hidden_size", 0, 1, GRAFT_MAX_SIZE, "hidden_size", "width of a hidden state")
CHOICE(D_LAYERS, INT, "num_hidden_layers", 0, 1, GRAFT_MAX_LAYERS, "num_hidden_layers", "number of layers")
CHOICE(D_CAUSAL, BOOL, "causal", 0, "is_causal ?? true", "whether a token sees only those before it")

CHOICE(D_MODEL_NAME, NAME, "model.name", 0, "model", "the child of the root that contains the layers")
CHOICE(D_MODEL_ANSWERS, NAME, "model.answers", 0, "model", "the same below a head that answers questions")
CHOICE(D_MODEL_LAYERS, NAME, "model.layers", 0, "layers", "the list of layers")
CHOICE(D_MODEL_NORM, NAME, "model.norm", NULLABLE, "norm", "the last norm; null: none")
CHOICE(D_MODEL_NORMED, BOOL, "model.normed", 0, "true", "whether model.norm exists")
CHOICE(D_MODEL_ROTARY, NAME, "model.rotary", 0, "rotary_emb", "the child that computes rotary angles")
CHOICE(D_MODEL_POOLER, NAME, "model.pooler", NULLABLE, NULL,
       "a Linear of the hidden state of a sequence's first token, followed by tanh; null: none")
CHOICE(D_MODEL_POOLER_ACT_NAME, NAME, "model.pooler_act_name", 0, "pooler.activation", "the child for tanh")
CHOICE(D_MODEL_POOLED, BOOL, "model.pooled", 0, "true", "whether model.pooler exists in models without a head")
CHOICE(D_MODEL_STORED_LAYERS, INT, "model.stored_layers", NULLABLE, 1, GRAFT_MAX_LAYERS, "null",
       "number of layers in checkpoints, if these run several times in a row; null: num_hidden_layers, once")
CHOICE(D_MODEL_PREDICTORS, WORD, "model.predictors", 0, "none after", "none",
       "layers in checkpoints that predict further tokens, which are ignored: none; num_nextn_predict_layers after the "
       "model's")
CHOICE(D_MODEL_ENCODER, NAME, "model.encoder", 0, "encoder",
       "the child of the root that is the encoder, if there is one")
CHOICE(D_MODEL_SHARED, NAME, "model.shared", 0, "shared", "the token embeddings that encoder and decoder share")

CHOICE(D_HEAD_NAME, NAME, "head.name", 0, "lm_head", "the Linear that computes logits")
CHOICE(D_HEAD_TIED, BOOL, "head.tied", 0, "tie_word_embeddings ?? false", "whether it shares the embeddings' weight")
CHOICE(D_HEAD_TIED_TO, NAME, "head.tied_to", NULLABLE, NULL,
       "the path of that weight; MODEL.EMBEDDING.weight by the names of both")
CHOICE(D_HEAD_BIAS, BOOL, "head.bias", 0, "false", "whether it has a bias")
CHOICE(D_HEAD_TIED_BIAS, NAME, "head.tied_bias", NULLABLE, NULL,
       "where else checkpoints may have that bias; null: nowhere")
CHOICE(D_HEAD_TRANSFORM, NAME, "head.transform", NULLABLE, NULL,
       "a Linear before the head, followed by an activation and a norm; null: none")
CHOICE(D_HEAD_TRANSFORM_SIZE, INT, "head.transform_size", 0, 1, GRAFT_MAX_SIZE, "hidden_size", "its output width")
CHOICE(D_HEAD_TRANSFORM_BIAS, BOOL, "head.transform_bias", 0, "true", "whether it has a bias")
CHOICE(D_HEAD_TRANSFORM_ACT, TEXT, "head.transform_act", 0, "hidden_act", "that activation, as ACT2FN calls it")
CHOICE(D_HEAD_TRANSFORM_ACT_NAME, NAME, "head.transform_act_name", 0, "act", "the child for that activation")
CHOICE(D_HEAD_TRANSFORM_NORM, NAME, "head.transform_norm", 0, "norm", "that norm")
CHOICE(D_HEAD_SEQUENCES, NAME, "head.sequences", 0, "score", "the Linear that classifies sequences")
CHOICE(D_HEAD_SEQUENCES_BIAS, BOOL, "head.sequences_bias", 0, "false", "whether it has a bias")
CHOICE(D_HEAD_TOKENS, NAME, "head.tokens", 0, "score", "the Linear that classifies tokens")
CHOICE(D_HEAD_ANSWERS, NAME, "head.answers", 0, "qa_outputs",
       "the Linear that scores tokens as the start and the end of an answer")
CHOICE(D_HEAD_POOLING, WORD, "head.pooling", 0, "last cls mean pooler late", "last",
       "the input for classifying a sequence: its last token that is not padding, its first token, the mean of its "
       "tokens, model.pooler, or the mean of head.labels_transform's output for its tokens")
CHOICE(D_HEAD_LABELS_TRANSFORM, NAME, "head.labels_transform", NULLABLE, NULL,
       "a Linear before head.sequences, followed by an activation and a norm; null: none")
CHOICE(D_HEAD_LABELS_TRANSFORM_BIAS, BOOL, "head.labels_transform_bias", 0, "true", "whether it has a bias")
CHOICE(D_HEAD_LABELS_TRANSFORM_ACT, TEXT, "head.labels_transform_act", 0, "'tanh'",
       "that activation, as ACT2FN calls it")
CHOICE(D_HEAD_LABELS_TRANSFORM_ACT_NAME, NAME, "head.labels_transform_act_name", 0, "classifier.act",
       "the child for that activation")
CHOICE(D_HEAD_LABELS_TRANSFORM_NORM, NAME, "head.labels_transform_norm", NULLABLE, NULL, "that norm; null: none")
CHOICE(D_HEAD_LABELS_TRANSFORM_ALL, BOOL, "head.labels_transform_all", 0, "false",
       "whether they also precede head.tokens and head.answers")
CHOICE(D_HEAD_SCALE, REAL, "head.scale", 0, ANY_REAL, "1", "factor of logits")
CHOICE(D_HEAD_SOFTCAP, REAL, "head.softcap", NULLABLE | ABOVE, 0.0, "null",
       "logits become softcap * tanh(logits / softcap); null: unchanged")
CHOICE(D_HEAD_LOGITS_BIAS, NAME, "head.logits_bias", NULLABLE, NULL,
       "a parameter of the root that is added to logits after an encoder, if the checkpoint has it")

CHOICE(D_EMBEDDING_NAME, NAME, "embedding.name", 0, "embed_tokens", "token embeddings")
CHOICE(D_EMBEDDING_SIZE, INT, "embedding.size", NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "their width; if it is not hidden_size, embedding.project_in and embedding.project_out convert")
CHOICE(D_EMBEDDING_ROWS, INT, "embedding.rows", NULLABLE, 1, MAX_VOCABULARY, "null", "number of rows; null: vocab_size")
CHOICE(D_EMBEDDING_PROJECT_IN, NAME, "embedding.project_in", 0, "project_in",
       "the Linear from embedding.size to hidden_size")
CHOICE(D_EMBEDDING_PROJECT_OUT, NAME, "embedding.project_out", NULLABLE, "project_out",
       "the Linear from hidden_size back, before the head; null: none")
CHOICE(D_EMBEDDING_PROJECT_BIAS, BOOL, "embedding.project_bias", 0, "false", "whether embedding.project_in has a bias")
CHOICE(D_EMBEDDING_PROJECT_SUM, BOOL, "embedding.project_sum", 0, "false",
       "it is applied to the normed sum of embeddings and positions, not to embeddings")
CHOICE(D_EMBEDDING_PROJECT_EQUAL, BOOL, "embedding.project_equal", 0, "false",
       "it exists even if embedding.size is hidden_size")
CHOICE(D_EMBEDDING_SCALE, REAL, "embedding.scale", 0, ANY_REAL, "1", "factor of embeddings")
CHOICE(D_EMBEDDING_NORM, NAME, "embedding.norm", NULLABLE, NULL, "a norm of the embeddings; null: none")
CHOICE(D_EMBEDDING_NORMED, BOOL, "embedding.normed", 0, "true", "whether embedding.norm exists")
CHOICE(D_EMBEDDING_NORM_SUM, BOOL, "embedding.norm_sum", 0, "false",
       "the norm is applied to the sum of embeddings and what is added to them, such as positions")
CHOICE(D_EMBEDDING_TYPES, NAME, "embedding.types", NULLABLE, NULL,
       "embeddings of segments; in a decoder all tokens get the first; null: none")
CHOICE(D_EMBEDDING_TYPE_ROWS, INT, "embedding.type_rows", NULLABLE, 1, MAX_POSITIONS, "type_vocab_size",
       "number of rows; null: they are not used")
CHOICE(D_EMBEDDING_TASKS, NAME, "embedding.tasks", NULLABLE, NULL,
       "embeddings of tasks; all tokens get the first; null: none")
CHOICE(D_EMBEDDING_TASK_ROWS, INT, "embedding.task_rows", NULLABLE, 1, MAX_POSITIONS, "null",
       "number of rows; null: they are not used")

CHOICE(D_POSITION_NAME, NAME, "position.name", NULLABLE, NULL,
       "learned positions that are added to embeddings; null: none")
CHOICE(D_POSITION_ROWS, INT, "position.rows", NULLABLE, 1, MAX_POSITIONS, "max_position_embeddings",
       "number of rows; null: they are not used")
CHOICE(D_POSITION_OFFSET, INT, "position.offset", 0, 0, 65536, "0", "number of rows before that of position 0")
CHOICE(D_POSITION_SKIPPED, INT, "position.skipped", NULLABLE, 0, MAX_VOCABULARY, "null",
       "a token that is not counted, and gets the row before that of position 0; null: none")
CHOICE(D_POSITION_LIMIT, INT, "position.limit", NULLABLE, 1, MAX_POSITIONS, "null",
       "maximum length of a sequence, if learned positions do not limit it further; null: no other limit")
CHOICE(
    D_POSITION_SINES, REAL, "position.sines", NULLABLE | ABOVE, 0.0, "null",
    "positions are not learned but sines, then cosines, of position * 10000 ** (-i / sines), i from 0; null: learned")

CHOICE(D_RELATIVE_OF, WORD, "relative.of", 0, "none model first each", "none",
       "biases of scores by the distance of query and key: none; from a table of the model; from that of the first "
       "layer's attention; from one in each attention (Raffel et al. 2020)")
CHOICE(D_RELATIVE_NAME, NAME, "relative.name", 0, "relative_attention_bias",
       "that table, an Embedding, as a child of the model or of attention")
CHOICE(D_RELATIVE_BUCKETS, INT, "relative.buckets", 0, 2, 65536, "relative_attention_num_buckets ?? 32",
       "its number of rows; half are for keys after the query, if a query sees any")
CHOICE(D_RELATIVE_DISTANCE, INT, "relative.distance", 0, 1, 1 << 20, "relative_attention_max_distance ?? 128",
       "the distance from which on all keys have the same bias; half of the rows are for single distances")

CHOICE(D_LAYER_TYPE, TEXT, "layer.type", BY_LAYER | NULLABLE, "null",
       "config.json's name for the kind of layer: full_attention, sliding_attention, ...")
CHOICE(D_LAYER_TYPES, NAME, "layer.types", 0, "full_attention sliding_attention",
       "the layer types of the family, separated by spaces; any other is an error; null: any")
CHOICE(D_LAYER_ATTENTION, NAME, "layer.attention", 0, "self_attn", "attention")
CHOICE(D_LAYER_MIXER, NAME, "layer.mixer", NULLABLE, NULL, "the mixer, in layers with one instead of attention")
CHOICE(D_LAYER_MIXED, BOOL, "layer.mixed", BY_LAYER, "false", "whether the layer has a mixer instead of attention")
CHOICE(D_LAYER_BESIDE, BOOL, "layer.beside", BY_LAYER, "false",
       "whether a mixer runs parallel to attention: both get the same input, and their outputs are added")
CHOICE(D_LAYER_HAS_ATTENTION, BOOL, "layer.has_attention", BY_LAYER, "true",
       "whether the layer has attention, or a mixer instead")
CHOICE(D_LAYER_HAS_MLP, BOOL, "layer.has_mlp", BY_LAYER, "true", "whether the layer has an MLP, or experts instead")
CHOICE(D_LAYER_MLP, NAME, "layer.mlp", NULLABLE, "mlp", "the MLP, or the block of experts; null: none")
CHOICE(D_LAYER_EXPERTS, BOOL, "layer.experts", BY_LAYER, "false", "whether the layer has experts instead of an MLP")
CHOICE(D_LAYER_ATTENTION_NORM, NAME, "layer.attention_norm", NULLABLE, "input_layernorm",
       "the norm of attention's input")
CHOICE(D_LAYER_ATTENTION_NORMED, BOOL, "layer.attention_normed", BY_LAYER, "true",
       "whether layer.attention_norm exists")
CHOICE(D_LAYER_ATTENTION_OUTPUT_NORM, NAME, "layer.attention_output_norm", NULLABLE, NULL,
       "the norm of attention's output, before it is added")
CHOICE(D_LAYER_MLP_NORM, NAME, "layer.mlp_norm", NULLABLE, "post_attention_layernorm", "the norm of the MLP's input")
CHOICE(D_LAYER_MLP_OUTPUT_NORM, NAME, "layer.mlp_output_norm", NULLABLE, NULL,
       "the norm of the MLP's output, before it is added")
CHOICE(D_LAYER_PARALLEL, BOOL, "layer.parallel", 0, "false",
       "the MLP's input is the layer's input, not the result of attention")
CHOICE(D_LAYER_SHARED_NORM, BOOL, "layer.shared_norm", 0, "false",
       "with layer.parallel: the MLP gets the same normed input as attention, and there is no layer.mlp_norm")
CHOICE(D_LAYER_NORM_AFTER_ADD, BOOL, "layer.norm_after_add", 0, "false",
       "attention_norm and mlp_norm are applied to the sums after attention and MLP")
CHOICE(D_LAYER_NORMS_BEFORE, BOOL, "layer.norms_before", BY_LAYER, "true",
       "whether the layer has attention_norm and mlp_norm")
CHOICE(D_LAYER_NORMS_AFTER, BOOL, "layer.norms_after", BY_LAYER, "true",
       "whether the layer has attention_output_norm and mlp_output_norm")
CHOICE(D_LAYER_RESIDUAL_SCALE, REAL, "layer.residual_scale", BY_LAYER, ANY_REAL, "1",
       "factor of the outputs of attention and MLP, before they are added")
CHOICE(D_LAYER_ATTENTION_RESIDUAL, NAME, "layer.attention_residual", NULLABLE, NULL,
       "a vector that multiplies the residual to which attention's output is added")
CHOICE(D_LAYER_MLP_RESIDUAL, NAME, "layer.mlp_residual", NULLABLE, NULL, "the same for the MLP")
CHOICE(D_LAYER_RESIDUAL_NORMED, BOOL, "layer.residual_normed", 0, "false",
       "the residual is the normed input of attention or MLP, not the layer's input")
CHOICE(D_LAYER_ATTENTION_SKIP, REAL, "layer.attention_skip", BY_LAYER, ANY_REAL, "1",
       "factor of the residual to which attention's output is added")
CHOICE(D_LAYER_ATTENTION_SCALE, REAL, "layer.attention_scale", BY_LAYER, ANY_REAL, "1", "factor of attention's output")
CHOICE(D_LAYER_MLP_SKIP, REAL, "layer.mlp_skip", BY_LAYER, ANY_REAL, "1",
       "factor of the residual to which the MLP's output is added")
CHOICE(D_LAYER_MLP_SCALE, REAL, "layer.mlp_scale", BY_LAYER, ANY_REAL, "1", "factor of the MLP's output")
CHOICE(D_LAYER_CROSS, NAME, "layer.cross", 0, "encoder_attn", "attention to the encoder's output, if there is one")
CHOICE(D_LAYER_CROSS_NORM, NAME, "layer.cross_norm", 0, "encoder_attn_layer_norm",
       "its norm, used like layer.attention_norm")
CHOICE(D_LAYER_LOW_RANK, NAME, "layer.low_rank", NULLABLE, NULL,
       "a branch parallel to attention: attention's input, plus the norm of its product with two small matrices, is "
       "added to attention's output (Menghani et al. 2024, LAuReL); null: none")
CHOICE(D_LAYER_LOW_RANK_SIZE, INT, "layer.low_rank_size", BY_LAYER, 1, GRAFT_MAX_SIZE, "laurel_rank",
       "width between these matrices")
CHOICE(D_LAYER_SCALAR, NAME, "layer.scalar", NULLABLE, NULL,
       "a parameter of one number that multiplies the layer's output; null: none")
CHOICE(D_LAYER_EXPERTS_BESIDE, BOOL, "layer.experts_beside", BY_LAYER | NULLABLE, "null",
       "whether there are experts parallel to the MLP, whose input is the same hidden state, and whose router gets it "
       "without a norm; null: in no layer")
CHOICE(D_LAYER_BESIDE_MLP_NORM, NAME, "layer.beside_mlp_norm", 0, "post_feedforward_layernorm_1",
       "the norm of the MLP's output, if there are experts parallel to it")
CHOICE(D_LAYER_BESIDE_NORM, NAME, "layer.beside_norm", 0, "pre_feedforward_layernorm_2",
       "the norm of these experts' input")
CHOICE(D_LAYER_BESIDE_OUTPUT_NORM, NAME, "layer.beside_output_norm", 0, "post_feedforward_layernorm_2",
       "the norm of their output, before both are added")

CHOICE(D_INPUT_SIZE, INT, "layer_input.size", NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "width of an input that each layer gets for each token in addition to hidden states, for a gate at its end; "
       "null: none")
CHOICE(D_INPUT_ROWS, INT, "layer_input.rows", 0, 1, MAX_VOCABULARY, "vocab_size_per_layer_input",
       "number of tokens with such an input; others get that of token 0")
CHOICE(D_INPUT_EMBEDDINGS, NAME, "layer_input.embeddings", 0, "embed_tokens_per_layer",
       "their table, a row of all layers for each token")
CHOICE(D_INPUT_PROJECTION, NAME, "layer_input.projection", 0, "per_layer_model_projection",
       "a Linear of embeddings with as many outputs, which are normed and added")
CHOICE(D_INPUT_NORM, NAME, "layer_input.norm", 0, "per_layer_projection_norm", "that norm")
CHOICE(D_INPUT_GATE, NAME, "layer_input.gate", 0, "per_layer_input_gate",
       "a Linear of hidden states; after the activation mlp.act, it multiplies the input")
CHOICE(D_INPUT_ACT_NAME, NAME, "layer_input.act_name", 0, "act_fn", "the child for this activation")
CHOICE(D_INPUT_OUTPUT, NAME, "layer_input.output", 0, "per_layer_projection", "the Linear back to hidden_size")
CHOICE(D_INPUT_OUTPUT_NORM, NAME, "layer_input.output_norm", 0, "post_per_layer_input_norm",
       "the norm of its output, before it is added to hidden states")

CHOICE(D_STREAMS_COUNT, INT, "streams.count", NULLABLE, 1, 64, "null",
       "number of parallel hidden states of a token; a layer computes one of them, and the others are predicted and "
       "corrected (Baykal et al. 2023, AltUp); null: a single one")
CHOICE(D_STREAMS_ACTIVE, INT, "streams.active", 0, 0, 63, "0", "the index of the one that layers compute")
CHOICE(D_STREAMS_NAME, NAME, "streams.name", 0, "altup", "the prefix of the modules for prediction and correction")
CHOICE(D_STREAMS_SCALED, BOOL, "streams.scaled", 0, "true",
       "whether correct_output_scale multiplies the input of layer_input.gate")
CHOICE(D_STREAMS_IN, NAME, "streams.in", 0, "altup_projections",
       "the list of Linears that make the other streams from the first")
CHOICE(D_STREAMS_OUT, NAME, "streams.out", 0, "altup_unembed_projections",
       "the list of Linears after the last layer; the mean of their outputs and the first stream is the result")

CHOICE(D_NORM_KIND, WORD, "norm.kind", 0, "rms layer", "rms", "RMSNorm, or LayerNorm")
CHOICE(D_NORM_EPS, REAL, "norm.eps", BY_LAYER, 0.0, "rms_norm_eps", "added to the mean of squares")
CHOICE(D_NORM_OFFSET, REAL, "norm.offset", 0, ANY_REAL, "0", "added to weights")
CHOICE(D_NORM_WEIGHT, BOOL, "norm.weight", 0, "true", "whether norms have a weight")
CHOICE(D_NORM_BIAS, BOOL, "norm.bias", 0, "true", "whether LayerNorms have a bias")

CHOICE(D_HEADS, INT, "attention.heads", BY_LAYER, 1, GRAFT_MAX_SIZE, "num_attention_heads",
       "number of heads of queries")
CHOICE(D_KV_HEADS, INT, "attention.kv_heads", BY_LAYER, 1, GRAFT_MAX_SIZE, "num_key_value_heads ?? num_attention_heads",
       "number of heads of keys and values")
CHOICE(D_HEAD_DIM, INT, "attention.head_dim", BY_LAYER, 1, GRAFT_MAX_SIZE,
       "head_dim ?? hidden_size / num_attention_heads", "width of a head")
CHOICE(D_PROJECTED, WORD, "attention.projected", 0, "once routed", "once",
       "queries and output are projected once; or by as many projections as there are experts, some of which are "
       "chosen for each token (a mixture of attention heads)")
CHOICE(D_QKV_BIAS, BOOL, "attention.qkv_bias", BY_LAYER, "false", "whether queries, keys and values have biases")
CHOICE(D_K_BIAS, BOOL, "attention.k_bias", NULLABLE, "null", "the same for keys only; null: like attention.qkv_bias")
CHOICE(D_O_BIAS, BOOL, "attention.o_bias", BY_LAYER, "false", "whether the output projection has a bias")
CHOICE(D_QUERY, NAME, "attention.query", 0, "q_proj", "the projection of queries")
CHOICE(D_KEY, NAME, "attention.key", 0, "k_proj", "the projection of keys")
CHOICE(D_VALUE, NAME, "attention.value", 0, "v_proj", "the projection of values")
CHOICE(D_QKV, NAME, "attention.qkv", NULLABLE, NULL, "one projection instead of these three")
CHOICE(D_QKV_LAYOUT, WORD, "attention.qkv_layout", 0, "joined by_head grouped four_blocks", "joined",
       "the order of its rows: all queries, keys, values; [heads, 3, head_dim]; [kv_heads, queries of it + 2, "
       "head_dim]; four times a quarter of all queries, values, keys")
CHOICE(D_OUTPUT, NAME, "attention.output", 0, "o_proj", "the output projection")
CHOICE(D_OUTPUT_NORM, NAME, "attention.output_norm", NULLABLE, NULL, "a norm of its input; null: none")
CHOICE(D_ATTENTION_SCALE, REAL, "attention.scale", BY_LAYER | NULLABLE, ANY_REAL, "null",
       "factor of scores; null: 1 / sqrt(head_dim)")
CHOICE(D_ATTENTION_INPUT_SCALE, REAL, "attention.input_scale", BY_LAYER, ANY_REAL, "1", "factor of attention's input")
CHOICE(D_ATTENTION_OUTPUT_SCALE, REAL, "attention.output_scale", BY_LAYER, ANY_REAL, "1",
       "factor of attention's output")
CHOICE(D_KEY_SCALE, REAL, "attention.key_scale", BY_LAYER, ANY_REAL, "1", "factor of keys")
CHOICE(D_ATTENTION_SOFTCAP, REAL, "attention.softcap", NULLABLE | ABOVE, 0.0, "null",
       "scores become softcap * tanh(scores / softcap); null: unchanged")
CHOICE(D_WINDOW, INT, "attention.window", BY_LAYER | NULLABLE, 1, MAX_POSITIONS, "null",
       "number of keys that a query sees, including its own; null: all before it")
CHOICE(D_CHUNK, INT, "attention.chunk", BY_LAYER | NULLABLE, 1, MAX_POSITIONS, "null",
       "number of positions in a chunk: a query sees only earlier keys of its own chunk; null: all before it")
CHOICE(D_HEAD_NORM, WORD, "attention.head_norm", BY_LAYER, "none head all each", "none",
       "norms of queries and keys: none, of each head, of all heads of a token together, of each head with a weight of "
       "its own")
CHOICE(D_QUERY_NORM, NAME, "attention.query_norm", 0, "q_norm", "that of queries")
CHOICE(D_KEY_NORM, NAME, "attention.key_norm", 0, "k_norm", "that of keys")
CHOICE(D_HEAD_NORM_WEIGHT, BOOL, "attention.head_norm_weight", NULLABLE, "null",
       "whether they have a weight; null: like norm.weight")
CHOICE(D_HEAD_NORM_BIAS, BOOL, "attention.head_norm_bias", NULLABLE, "null",
       "whether they have a bias; null: like norm.bias")
CHOICE(D_HEAD_NORM_AFTER_ROTARY, BOOL, "attention.head_norm_after_rotary", 0, "false",
       "whether they are applied after rotation")
CHOICE(D_CLIP, REAL, "attention.clip", NULLABLE | ABOVE, 0.0, "null",
       "queries, keys and values are clipped to [-clip, clip] after norms; null: unchanged")
CHOICE(D_VALUE_DIM, INT, "attention.value_dim", BY_LAYER | NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "width of a head of values; null: attention.head_dim")
CHOICE(D_VALUE_SCALE, REAL, "attention.value_scale", 0, ANY_REAL, "1", "factor of values")
CHOICE(D_VALUE_NORM, NAME, "attention.value_norm", NULLABLE, NULL,
       "a norm of each head of values, without a weight; null: none")
CHOICE(D_VALUE_IS_KEY, BOOL, "attention.value_is_key", BY_LAYER | NULLABLE, "null",
       "whether values are the output of the key projection, before norms and rotation, and have no projection; null: "
       "in no layer")
CHOICE(D_SHARED_LAYERS, INT, "attention.shared_layers", NULLABLE, 0, GRAFT_MAX_LAYERS, "null",
       "number of last layers without keys and values of their own: each uses those of the last earlier layer with its "
       "layer.type; null: none")
CHOICE(D_QUERY_GAIN, REAL, "attention.query_gain", BY_LAYER | NULLABLE, ANY_REAL, "null",
       "rotated queries are multiplied by 1 + query_gain * log(1 + (position + query_gain_from) // query_gain_period); "
       "null: unchanged")
CHOICE(D_QUERY_POWER, REAL, "attention.query_power", BY_LAYER | NULLABLE, ANY_REAL, "null",
       "they are multiplied by (1 + (position + query_gain_from) / query_gain_period) ** query_power; null: unchanged")
CHOICE(D_QUERY_GAIN_PERIOD, INT, "attention.query_gain_period", NULLABLE, 1, MAX_POSITIONS, "null",
       "number of positions with the same factor")
CHOICE(D_QUERY_GAIN_FROM, INT, "attention.query_gain_from", 0, 0, 1, "0",
       "the number of the first position in that formula")
CHOICE(D_DIFFERENTIAL, BOOL, "attention.differential", 0, "false",
       "the output of the second half of heads, times a learned number, is subtracted from that of the first half")
CHOICE(D_KEY_WEIGHTS, NAME, "attention.key_weights", NULLABLE, NULL,
       "a Linear of a token's values: exp(A * softplus(its output)) is added to the scores of that token's keys; null: "
       "none")
CHOICE(D_SINKS, BOOL, "attention.sinks", BY_LAYER, "false",
       "each head has an additional score without a value in its softmax")
CHOICE(D_ALIBI, REAL, "attention.alibi", NULLABLE | ABOVE, 0.0, "null",
       "the position of a key times a slope is added to scores; the slope of head h of n is 2 ** (-alibi * (h + 1) / "
       "n); null: none (Press et al. 2022)")
CHOICE(D_ALIBI_ROUNDED, BOOL, "attention.alibi_rounded", 0, "false",
       "slope and product are rounded to bf16, and the product is scaled like scores")
CHOICE(D_GATE, WORD, "attention.gate", 0, "none query number head", "none",
       "a gate that multiplies the heads' output: none; the second half of each query; attention.gate_proj, with a "
       "number for each of the output's; with one for each head")
CHOICE(D_GATE_NAME, NAME, "attention.gate_proj", 0, "gate_proj", "the projection that computes the gate")
CHOICE(D_GATE_ACT, WORD, "attention.gate_act", 0, "sigmoid softplus", "sigmoid", "the gate's activation")
CHOICE(D_GATE_BIAS, NAME, "attention.gate_bias", NULLABLE, NULL,
       "a vector, one number per head, that is added before the activation; null: none")

CHOICE(D_DISENTANGLED_NAME, NAME, "disentangled.embeddings", NULLABLE, NULL,
       "embeddings of distances, a child of the model: products of queries, and of keys, with their projections are "
       "added to scores (He et al. 2021); null: none")
CHOICE(D_DISENTANGLED_USE, BOOL, "disentangled.use", 0, "true", "whether they are used")
CHOICE(D_DISENTANGLED_NORM, NAME, "disentangled.norm", NULLABLE, NULL, "their norm, another child; null: none")
CHOICE(D_DISENTANGLED_NORMED, BOOL, "disentangled.normed", 0, "true", "whether disentangled.norm exists")
CHOICE(D_DISENTANGLED_REACH, INT, "disentangled.reach", 0, 2, 65536, "max_relative_positions",
       "the distance from which on all have the same embedding")
CHOICE(D_DISENTANGLED_BUCKETS, INT, "disentangled.buckets", NULLABLE, 4, 65536, "null",
       "half the number of rows; far distances share the outer half of them; null: each distance has a row")
CHOICE(D_DISENTANGLED_BY_KEY, BOOL, "disentangled.by_key", 0, "true",
       "whether queries are multiplied by distances projected as keys")
CHOICE(D_DISENTANGLED_BY_QUERY, BOOL, "disentangled.by_query", 0, "true",
       "whether keys are multiplied by distances projected as queries")
CHOICE(D_DISENTANGLED_SHARED, BOOL, "disentangled.shared", 0, "false",
       "distances use the projections of tokens instead of the next two")
CHOICE(D_DISENTANGLED_KEY, NAME, "disentangled.key", 0, "self.pos_key_proj", "the projection of distances as keys")
CHOICE(D_DISENTANGLED_QUERY, NAME, "disentangled.query", 0, "self.pos_query_proj", "the same as queries")

CHOICE(D_LATENT_RANK, INT, "latent.rank", NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "width of the latent from which keys and values of all heads are computed, and which the cache keeps (MLA); "
       "null: none")
CHOICE(D_LATENT_QUERY_RANK, INT, "latent.query_rank", NULLABLE, 1, GRAFT_MAX_SIZE, "q_lora_rank",
       "the same for queries; null: a single projection")
CHOICE(D_LATENT_ROPE_DIM, INT, "latent.rope_dim", 0, 1, GRAFT_MAX_SIZE, "qk_rope_head_dim",
       "width of the rotated part of a head, its last numbers, which all heads of keys share")
CHOICE(D_LATENT_EPS, REAL, "latent.eps", 0, 0.0, "1e-6", "eps of the latents' norms")

CHOICE(D_ROTARY_USE, BOOL, "rotary.use", BY_LAYER, "true", "whether queries and keys are rotated")
CHOICE(D_ROTARY_DIM, INT, "rotary.dim", BY_LAYER | NULLABLE, 1, 65536, "null",
       "number of rotated numbers of a head; null: attention.head_dim")
CHOICE(D_ROTARY_THETA, REAL, "rotary.theta", BY_LAYER | ABOVE, 0.0, "10000",
       "the base, if config.json has no rope_theta in its usual places")
CHOICE(D_ROTARY_BASE, REAL, "rotary.base", BY_LAYER | NULLABLE | ABOVE, 0.0, "null",
       "the base, whatever rope_theta is in config.json; null: rope_theta")
CHOICE(D_ROTARY_ALPHA, BOOL, "rotary.alpha", 0, "false",
       "the type dynamic with `alpha` is the type default with the base multiplied by alpha ** (dim / (dim - 2))")
CHOICE(D_ROTARY_MSCALES, BOOL, "rotary.mscales", 0, "false",
       "cos and sin are multiplied by short_mscale or long_mscale, depending on the sequence's length; longrope then "
       "uses the factors for short ones")
CHOICE(D_ROTARY_PARTIAL, REAL, "rotary.partial", BY_LAYER, 0.0, "0",
       "partial_rotary_factor if config.json has none; 0: 1")
CHOICE(D_ROTARY_WHOLE, BOOL, "rotary.whole", 0, "true", "whole heads are rotated, whatever partial_rotary_factor is")
CHOICE(D_ROTARY_INTERLEAVED, BOOL, "rotary.interleaved", 0, "false",
       "adjacent numbers are rotated together, not those of two halves")
CHOICE(D_ROTARY_REVERSED, BOOL, "rotary.reversed", 0, "false", "rotation is by the negative angles")
CHOICE(D_ROTARY_TABLE, BOOL, "rotary.table", 0, "false",
       "checkpoints contain sines, then cosines, for rotary.positions positions")
CHOICE(D_ROTARY_OBJECT, TEXT, "rotary.object", BY_LAYER | NULLABLE, "null",
       "the path of the object that has the parameters; null: rope_parameters or rope_scaling")
CHOICE(D_ROTARY_TYPED, BOOL, "rotary.typed", 0, "false",
       "layers with a window have angles of their own, to which the other choices apply separately")
CHOICE(D_ROTARY_BY_LAYER, BOOL, "rotary.by_layer", 0, "false",
       "each layer has its own angles, to which the other choices apply separately; equal ones are computed once")
CHOICE(D_ROTARY_RENEWED_AFTER, INT, "rotary.renewed_after", NULLABLE, 1, MAX_POSITIONS, "null",
       "the length after which a sequence's keys are computed again, if its frequencies change there; null: never")
CHOICE(D_ROTARY_POSITIONS, INT, "rotary.positions", 0, 1, MAX_POSITIONS, "max_position_embeddings",
       "the number of positions that the model was made for")
CHOICE(D_ROTARY_TIME, INT, "rotary.time", 0, 0, 65536, "0",
       "with three positions per token: the default number of frequencies for time")
CHOICE(D_ROTARY_HEIGHT, INT, "rotary.height", 0, 0, 65536, "0", "the same for height")
CHOICE(D_ROTARY_WIDTH, INT, "rotary.width", 0, 0, 65536, "0", "the same for width")
CHOICE(D_ROTARY_AXES, WORD, "rotary.axes", 0, "blocks turns", "blocks",
       "frequencies of an axis are consecutive; or the axes alternate, until each has as many as it should")

CHOICE(D_MIXER_KIND, WORD, "mixer.kind", 0, "none mamba mamba2 gated_delta short_conv lightning rg_lru rwkv", "none",
       "the kind of mixer: selective state spaces, the gated delta rule, a gated convolution, linear attention with "
       "decay, a gated linear recurrent unit, or RWKV's, whose class.mlp also looks at the previous token")
CHOICE(D_MIXER_KERNEL, INT, "mixer.kernel", BY_LAYER, 2, 64, "conv_kernel",
       "number of tokens that its convolution spans")
CHOICE(D_MIXER_CONV, NAME, "mixer.conv", 0, "conv1d", "the convolution")
CHOICE(D_MIXER_CONV_BIAS, BOOL, "mixer.conv_bias", 0, "false", "whether it has a bias")
CHOICE(D_MIXER_ACT, TEXT, "mixer.act", 0, "hidden_act", "the activation after it, as transformers' ACT2FN calls it")
CHOICE(D_MIXER_BIAS, BOOL, "mixer.bias", 0, "false", "whether the input projection has a bias")
CHOICE(D_MIXER_OUTPUT, NAME, "mixer.output", 0, "out_proj", "the output projection")
CHOICE(D_MIXER_OUTPUT_BIAS, BOOL, "mixer.output_bias", 0, "false", "whether mamba2's has a bias; others: mixer.bias")
CHOICE(D_MIXER_SIZE, INT, "mixer.size", BY_LAYER, 1, GRAFT_MAX_SIZE, "intermediate_size",
       "inner width of mamba, mamba2 or rwkv")
CHOICE(D_MIXER_HEADS, INT, "mixer.heads", BY_LAYER, 1, MAX_MIXER_HEADS, "num_attention_heads",
       "number of heads of values")
CHOICE(D_MIXER_HEAD_DIM, INT, "mixer.head_dim", BY_LAYER, 1, MAX_MIXER_DIM, "head_dim", "width of one")
CHOICE(D_MIXER_KEY_HEADS, INT, "mixer.key_heads", BY_LAYER, 1, MAX_MIXER_HEADS, "num_attention_heads",
       "number of heads of queries and keys, each of which is shared by heads of values (gated_delta)")
CHOICE(D_MIXER_KEY_DIM, INT, "mixer.key_dim", BY_LAYER, 1, MAX_MIXER_DIM, "head_dim", "width of one")
CHOICE(D_MIXER_GROUPS, INT, "mixer.groups", BY_LAYER, 1, MAX_MIXER_HEADS, "n_groups",
       "number of groups of heads that share B and C, and are normed separately (mamba2)")
CHOICE(D_MIXER_STATE_SIZE, INT, "mixer.state_size", BY_LAYER, 1, MAX_MIXER_DIM, "state_size",
       "number of state values for each channel (mamba, mamba2)")
CHOICE(D_MIXER_NORM, NAME, "mixer.norm", 0, "norm", "the norm of the recurrence's output")
CHOICE(D_MIXER_NORMED, BOOL, "mixer.normed", 0, "true", "whether mamba2's exists, or only its gate")
CHOICE(D_MIXER_NORM_EPS, REAL, "mixer.norm_eps", 0, 0.0, "rms_norm_eps", "eps of norms inside mixers")
CHOICE(D_MIXER_NORM_ORDER, WORD, "mixer.norm_order", 0, "gate_first gate_last", "gate_last",
       "whether the gate multiplies before the norm or after it")
CHOICE(D_MIXER_GATE_ACT, WORD, "mixer.gate_act", 0, "silu sigmoid", "silu", "the activation of that gate")
CHOICE(D_MIXER_STEP_RANK, INT, "mixer.step_rank", BY_LAYER, 1, GRAFT_MAX_SIZE, "time_step_rank",
       "width from which the steps of all channels are projected (mamba)")
CHOICE(D_MIXER_STEP_NORMS, WORD, "mixer.step_norms", 0, "none plain weighted", "none",
       "norms of steps, B and C: none, without weights, with weights")
CHOICE(D_MIXER_STEP_MIN, REAL, "mixer.step_min", 0, ANY_REAL, "0", "the shortest step (mamba2)")
CHOICE(D_MIXER_STEP_MAX, REAL, "mixer.step_max", NULLABLE, ANY_REAL, "null", "the longest; null: any")
CHOICE(D_MIXER_LAYOUT, WORD, "mixer.layout", 0, "grouped joined separate", "joined",
       "projections of gated_delta: in_proj_qkvz and in_proj_ba by heads of keys; in_proj_qkv, in_proj_z, in_proj_b "
       "and in_proj_a; q_proj, k_proj, v_proj, b_proj, g_proj, and a_proj or f_proj")
CHOICE(D_MIXER_GATE_RANK, INT, "mixer.gate_rank", NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "width between f_a_proj and f_b_proj, g_a_proj and g_b_proj, which then replace f_proj and g_proj; null: no "
       "such pairs")
CHOICE(D_MIXER_DECAY, WORD, "mixer.decay", 0, "head key", "head",
       "whether the state of a head decays as a whole, or each number of a key separately")
CHOICE(D_MIXER_RATES, WORD, "mixer.rates", 0, "vector block", "vector", "the shape of A_log: [heads], [1, 1, heads, 1]")
CHOICE(D_MIXER_DECAY_FLOOR, REAL, "mixer.decay_floor", NULLABLE, ANY_REAL, "null",
       "log decays are floor * sigmoid(exp(A_log) x); null: -exp(A_log) softplus(x)")
CHOICE(D_MIXER_BETA_SCALE, REAL, "mixer.beta_scale", 0, ANY_REAL, "1",
       "factor of the sigmoid of b: how much of its state a token may change")
CHOICE(D_MIXER_INPUT_SCALE, REAL, "mixer.input_scale", 0, ANY_REAL, "1", "factor of mamba2's input")
CHOICE(D_MIXER_OUTPUT_SCALE, REAL, "mixer.output_scale", 0, ANY_REAL, "1", "factor of its output")
CHOICE(D_MIXER_GATE_SCALE, REAL, "mixer.gate_scale", 0, ANY_REAL, "1", "factor of the gate from in_proj")
CHOICE(D_MIXER_X_SCALE, REAL, "mixer.x_scale", 0, ANY_REAL, "1", "factor of its x")
CHOICE(D_MIXER_B_SCALE, REAL, "mixer.b_scale", 0, ANY_REAL, "1", "factor of its B")
CHOICE(D_MIXER_C_SCALE, REAL, "mixer.c_scale", 0, ANY_REAL, "1", "factor of its C")
CHOICE(D_MIXER_STEP_SCALE, REAL, "mixer.step_scale", 0, ANY_REAL, "1", "factor of its steps")

CHOICE(D_MLP_SIZE, INT, "mlp.size", BY_LAYER, 1, GRAFT_MAX_SIZE, "intermediate_size", "inner width of a dense MLP")
CHOICE(D_MLP_ACT, TEXT, "mlp.act", 0, "hidden_act", "the activation, as transformers' ACT2FN calls it")
CHOICE(D_MLP_BIAS, BOOL, "mlp.bias", 0, "false", "whether its projections have biases")
CHOICE(D_MLP_DOWN_BIAS, BOOL, "mlp.down_bias", NULLABLE, "null",
       "whether the down projection has one; null: like mlp.bias")
CHOICE(D_MLP_GATE, NAME, "mlp.gate", NULLABLE, "gate_proj", "the gate; null: none, down(act(up(x)))")
CHOICE(D_MLP_UP, NAME, "mlp.up", 0, "up_proj", "the up projection")
CHOICE(D_MLP_GATE_UP, NAME, "mlp.gate_up", NULLABLE, NULL, "one projection instead of both, with the gate's rows first")
CHOICE(D_MLP_DOWN, NAME, "mlp.down", 0, "down_proj", "the down projection")
CHOICE(D_MLP_ACT_NAME, NAME, "mlp.act_name", 0, "act_fn", "the child for the activation")
CHOICE(D_MLP_NORM, NAME, "mlp.norm", NULLABLE, NULL, "a norm of mlp.down's input; null: none")
CHOICE(D_MLP_GATE_SCALE, REAL, "mlp.gate_scale", BY_LAYER, ANY_REAL, "1", "factor of the gate, before its activation")
CHOICE(D_MLP_OUTPUT_SCALE, REAL, "mlp.output_scale", BY_LAYER, ANY_REAL, "1", "factor of the MLP's output")
CHOICE(D_MLP_ALPHA, REAL, "mlp.alpha", NULLABLE, ANY_REAL, "null",
       "the gated product is (up + 1) * gate * sigmoid(alpha * gate), like moe.alpha for experts; null: up * act(gate)")
CHOICE(D_MLP_LIMIT, REAL, "mlp.limit", NULLABLE | ABOVE, 0.0, "null", "with mlp.alpha: like moe.limit")
CHOICE(D_MLP_GATE_QUANTILE, REAL, "mlp.gate_quantile", BY_LAYER, 0.0, "0",
       "only gates above this quantile of a normal distribution are kept, minus the quantile; 0: all")
CHOICE(D_MLP_GATED, BOOL, "mlp.gated", 0, "true", "whether mlp.gate exists, if it has a name")
CHOICE(D_MLP_ALONE, NAME, "mlp.alone", NULLABLE, NULL, "the name of mlp.up if there is no gate; null: the same")

CHOICE(D_MOE_EXPERTS, INT, "moe.experts", BY_LAYER | NULLABLE, 0, GRAFT_MAX_EXPERTS, "null",
       "number of experts; 0: only the shared MLP; null: none")
CHOICE(D_MOE_TOP_K, INT, "moe.top_k", BY_LAYER, 1, GRAFT_MAX_EXPERTS, "num_experts_per_tok",
       "number of experts for each token")
CHOICE(D_MOE_SIZE, INT, "moe.size", BY_LAYER, 1, GRAFT_MAX_SIZE, "moe_intermediate_size", "inner width of an expert")
CHOICE(D_MOE_ROUTER_NAME, NAME, "moe.router", 0, "gate", "the router")
CHOICE(D_MOE_ROUTER_BIAS, BOOL, "moe.router_bias", 0, "false", "whether logits have a bias")
CHOICE(D_MOE_ROUTER_EXACT, BOOL, "moe.router_exact", 0, "false", "logits are computed in f32, even in bf16 models")
CHOICE(D_MOE_ROUTER_NORM, NAME, "moe.router_norm", NULLABLE, NULL,
       "a norm, without a weight, of the router's input, which is then divided by the root of its width; null: none")
CHOICE(D_MOE_ROUTER_SCALE, NAME, "moe.router_scale", NULLABLE, NULL,
       "with moe.router_norm: a vector of the router that then multiplies it; null: none")
CHOICE(D_MOE_EXPERT_SCALE, NAME, "moe.expert_scale", NULLABLE, NULL,
       "a vector of the router with a factor for the weights of each expert; null: none")
CHOICE(D_MOE_EXPERTS_NAME, NAME, "moe.list", 0, "experts", "the experts")
CHOICE(D_MOE_KIND, WORD, "moe.kind", 0, "gated plain", "gated",
       "the formula of an expert: down(act(gate(x)) * up(x)), or down(act(up(x)))")
CHOICE(D_MOE_LATENT, INT, "moe.latent", BY_LAYER | NULLABLE, 1, GRAFT_MAX_SIZE, "null",
       "width of the experts' input and output, between two Linears; null: hidden_size")
CHOICE(D_MOE_LATENT_IN, NAME, "moe.latent_in", 0, "fc1_latent_proj", "the first of these Linears")
CHOICE(D_MOE_LATENT_OUT, NAME, "moe.latent_out", 0, "fc2_latent_proj", "the second one")
CHOICE(D_MOE_STORED, WORD, "moe.stored", 0, "list w1_w3_w2 stacked interleaved transposed", "list",
       "names in checkpoints: E.gate_proj, E.up_proj, E.down_proj; E.w1, E.w3, E.w2; those of the class; [experts, in, "
       "out], with gate and up of an output next to each other; [experts, in, out]")
CHOICE(D_MOE_BIAS, BOOL, "moe.bias", 0, "false", "whether the experts' projections have biases")
CHOICE(D_MOE_ALPHA, REAL, "moe.alpha", NULLABLE, ANY_REAL, "null",
       "experts multiply (up + 1) * gate * sigmoid(alpha * gate); null: up * act(gate)")
CHOICE(D_MOE_LIMIT, REAL, "moe.limit", NULLABLE | ABOVE, 0.0, "null",
       "with moe.alpha: the gate is at most this, and up between -limit and limit")
CHOICE(D_MOE_SOFTCAP, REAL, "moe.softcap", NULLABLE | ABOVE, 0.0, "null",
       "logits become softcap * tanh(logits / softcap); null: unchanged")
CHOICE(D_MOE_SCORE, WORD, "moe.score", 0, "softmax sigmoid top_softmax top_sigmoid sparsemixer", "softmax",
       "how logits become weights: before the best are chosen; after that, of the chosen ones; or by a softmax of "
       "those near the best, then without it of those near the second")
CHOICE(D_MOE_JITTER, REAL, "moe.jitter", 0, 0.0, "router_jitter_noise ?? 0.01",
       "with sparsemixer: how near, as half of the difference relative to the larger of both")
CHOICE(D_MOE_CORRECTION, NAME, "moe.correction", NULLABLE, NULL,
       "a vector of the router that is added to scores only for choosing")
CHOICE(D_MOE_CORRECTED, BOOL, "moe.corrected", 0, "true", "whether moe.correction exists")
CHOICE(D_MOE_CORRECTION_ROW, BOOL, "moe.correction_row", 0, "false",
       "it is one row of a matrix, [1, experts], not a vector")
CHOICE(D_MOE_GROUPS, INT, "moe.groups", NULLABLE, 1, GRAFT_MAX_EXPERTS, "null",
       "number of groups of experts, of which the best are chosen first")
CHOICE(D_MOE_TOP_GROUPS, INT, "moe.top_groups", NULLABLE, 1, GRAFT_MAX_EXPERTS, "null",
       "number of groups for each token")
CHOICE(D_MOE_NORMALISE, BOOL, "moe.normalise", 0, "norm_topk_prob ?? false",
       "the weights of a token are divided by their sum")
CHOICE(D_MOE_SUM_OFFSET, REAL, "moe.sum_offset", 0, 0.0, "0", "with moe.normalise: a number added to that sum")
CHOICE(D_MOE_LEAST_SUM, REAL, "moe.least_sum", 0, 0.0, "0", "with moe.normalise: the minimum of that sum")
CHOICE(D_MOE_SCALE, REAL, "moe.scale", 0, ANY_REAL, "1", "factor of weights")
CHOICE(D_MOE_WEIGHS_INPUT, BOOL, "moe.weighs_input", 0, "false",
       "weights multiply the experts' input, not their output")
CHOICE(D_MOE_SHARED_NAME, NAME, "moe.shared", NULLABLE, NULL,
       "an MLP for all tokens, in addition to the experts; null: none")
CHOICE(D_MOE_SHARED_SIZE, INT, "moe.shared_size", NULLABLE, 1, GRAFT_MAX_SIZE, "shared_expert_intermediate_size",
       "its inner width; null: none")
CHOICE(D_MOE_SHARED_GATE, NAME, "moe.shared_gate", NULLABLE, NULL,
       "a Linear whose sigmoid multiplies its output; null: none")
CHOICE(D_MOE_SUM_SCALE, REAL, "moe.sum_scale", 0, ANY_REAL, "1", "factor of the sum of experts and shared MLP")
CHOICE(D_MOE_SUM_BIAS, NAME, "moe.sum_bias", NULLABLE, NULL,
       "a vector of the block that is added to that sum; null: none")

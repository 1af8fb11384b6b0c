/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of vision towers; decoder/choice_list.h has those of decoders. Expressions read fields of vision_config;
 * those in the section `model` read all of config.json. */
CHOICE(V_CLASS_MODEL, NAME, "class.model", NULLABLE, NULL,
       "the model that contains tower and language model; PREFIXModel")
CHOICE(V_CLASS_TEXT_MODEL, NAME, "class.text_model", NULLABLE, NULL, "the language model; PREFIXTextModel")
CHOICE(V_CLASS_TOWER, NAME, "class.tower", NULLABLE, NULL, "the tower; PREFIXVisionModel")
CHOICE(V_CLASS_PATCH_EMBED, NAME, "class.patch_embed", NULLABLE, NULL,
       "makes vectors from patches; PREFIXVisionPatchEmbed")
CHOICE(V_CLASS_ROTARY, NAME, "class.rotary", NULLABLE, NULL, "rotary angles; PREFIXVisionRotaryEmbedding")
CHOICE(V_CLASS_BLOCK, NAME, "class.block", NULLABLE, NULL, "a block; PREFIXVisionBlock")
CHOICE(V_CLASS_ATTENTION, NAME, "class.attention", NULLABLE, NULL, "attention; PREFIXVisionAttention")
CHOICE(V_CLASS_MLP, NAME, "class.mlp", NULLABLE, NULL, "the MLP of a block; PREFIXVisionMLP")
CHOICE(V_CLASS_MERGER, NAME, "class.merger", NULLABLE, NULL,
       "makes vectors of the language model from patches; PREFIXVisionPatchMerger")
CHOICE(V_CLASS_NORM, NAME, "class.norm", 0, "LayerNorm", "norms: LayerNorm, or the decoder's class")
CHOICE(V_CLASS_MERGER_NORM, NAME, "class.merger_norm", NULLABLE, NULL, "the merger's norm; class.norm")

CHOICE(V_DEPTH, INT, "depth", 0, 1, MAX_LAYERS, "depth", "number of blocks")
CHOICE(V_RUN, INT, "run", NULLABLE, 1, MAX_LAYERS, "null", "number of blocks that run; null: all")
CHOICE(V_HIDDEN_SIZE, INT, "hidden_size", 0, 1, MAX_SIZE, "hidden_size", "width of a patch in the blocks")
CHOICE(V_OUTPUT_SIZE, INT, "output_size", 0, 1, MAX_SIZE, "out_hidden_size",
       "width of the vectors for the language model")

CHOICE(V_MODEL_TOWER, NAME, "model.tower", 0, "visual", "the tower")
CHOICE(V_MODEL_TEXT, NAME, "model.text", 0, "language_model", "the language model")
CHOICE(V_MODEL_PROJECTOR, NAME, "model.projector", NULLABLE, NULL,
       "a merger outside of the tower; null: it is in the tower, merger.name")
CHOICE(V_MODEL_TEXT_SIZE, INT, "model.text_size", 0, 1, MAX_SIZE, "text_config.hidden_size ?? hidden_size",
       "hidden_size of the language model")
CHOICE(V_MODEL_IMAGE_TOKEN, INT, "model.image_token", 0, 0, INT32_MAX, "image_token_id",
       "the placeholder token for images")
CHOICE(V_MODEL_VIDEO_TOKEN, INT, "model.video_token", NULLABLE, 0, INT32_MAX, "video_token_id",
       "the one for videos; null: none")
CHOICE(V_MODEL_PLACE_TOKEN, INT, "model.place_token", NULLABLE, 0, INT32_MAX, "null",
       "the token that asks for an image in a prompt; it stays, between line breaks, before the image's tokens; null: "
       "the image token does")
CHOICE(V_MODEL_PLACE_END, INT, "model.place_end", NULLABLE, 0, INT32_MAX, "null", "with it: the token after them")
CHOICE(V_MODEL_BOS_AFTER, INT, "model.bos_after", NULLABLE, 0, INT32_MAX, "null",
       "the first token of the text in prompts with images, which come before it; the text ends with a line break; "
       "null: prompts are unchanged")
CHOICE(V_MODEL_POSITIONS, WORD, "model.positions", 0, "axes tokens", "axes",
       "rotary positions of images and videos: by time, height and width; or one for each token")
CHOICE(V_MODEL_TIME_RATE, REAL, "model.time_rate", NULLABLE, 0.0, "null",
       "time positions per second of a video; null: each patch in time advances by one")
CHOICE(V_MODEL_VIDEO, WORD, "model.video", 0, "whole seconds_before seconds_after", "whole",
       "tokens of a video are contiguous; or each patch in time has its own, marked like an image and after a text "
       "with its time, '<1.5 seconds>'; or they are image tokens, before such a text, '1'")
CHOICE(V_MODEL_SEES, WORD, "model.sees", 0, "before image prompt", "before",
       "what a token sees: those before it; also those after it in its image; or all of a prompt with images")

CHOICE(V_PATCH_NAME, NAME, "patch.name", 0, "patch_embed", "the module that makes vectors from patches")
CHOICE(V_PATCH_CONV, NAME, "patch.conv", 0, "proj", "its convolution")
CHOICE(V_PATCH_FLAT, BOOL, "patch.flat", 0, "false", "whether that is a Conv2d, not a Conv3d; patch.frames is 1 then")
CHOICE(V_PATCH_CLASS, NAME, "patch.class", NULLABLE, NULL,
       "a vector of it that precedes the patches in the blocks; null: none")
CHOICE(V_PATCH_POSITIONS, NAME, "patch.positions", NULLABLE, NULL,
       "learned positions in it, one for each patch of an image; null: none")
CHOICE(V_PATCH_CHANNELS, INT, "patch.channels", 0, 1, MAX_MERGE, "in_channels", "channels of a pixel")
CHOICE(V_PATCH_SIZE, INT, "patch.size", 0, 1, MAX_PATCH, "patch_size", "pixels per side")
CHOICE(V_PATCH_FRAMES, INT, "patch.frames", 0, 1, MAX_MERGE, "temporal_patch_size", "frames of a patch")
CHOICE(V_PATCH_BIAS, BOOL, "patch.bias", 0, "false", "whether its convolution has a bias")
CHOICE(V_PATCH_NORM, NAME, "patch.norm", NULLABLE, NULL, "the norm of embedded patches; null: none")

CHOICE(V_NORM_EPS, REAL, "norm.eps", 0, 0.0, "1e-6", "eps of norms")
CHOICE(V_NORM_LAST, NAME, "norm.last", NULLABLE, NULL, "the norm after the blocks; null: none")
CHOICE(V_NORM_LAST_USED, BOOL, "norm.last_used", 0, "true", "whether it is applied to the tower's output")

CHOICE(V_BLOCK_LIST, NAME, "block.list", 0, "blocks", "the list of blocks")
CHOICE(V_BLOCK_ATTENTION_NORM, NAME, "block.attention_norm", 0, "norm1", "the norm of attention's input")
CHOICE(V_BLOCK_ATTENTION, NAME, "block.attention", 0, "attn", "attention")
CHOICE(V_BLOCK_MLP_NORM, NAME, "block.mlp_norm", 0, "norm2", "the norm of the MLP's input")
CHOICE(V_BLOCK_MLP, NAME, "block.mlp", 0, "mlp", "the MLP")

CHOICE(V_POSITION_NAME, NAME, "position.name", NULLABLE, NULL,
       "learned positions in a square, interpolated to each image; null: none")
CHOICE(V_POSITION_ROWS, INT, "position.rows", 0, 1, MAX_SIZE, "num_position_embeddings", "number of rows")
CHOICE(V_POSITION_BETWEEN, WORD, "position.between", 0, "bilinear bicubic none", "bilinear",
       "how they are interpolated; none: an image has as many patches")
CHOICE(V_POSITION_CORNERS, BOOL, "position.corners", 0, "true",
       "the outer rows of the square are those of the image, not half a patch outside of it")

CHOICE(V_ATTENTION_HEADS, INT, "attention.heads", 0, 1, MAX_SIZE, "num_heads", "number of heads")
CHOICE(V_ATTENTION_KV_HEADS, INT, "attention.kv_heads", NULLABLE, 1, MAX_SIZE, "null",
       "number of heads of keys and values; null: as many")
CHOICE(V_ATTENTION_QKV_BIAS, BOOL, "attention.qkv_bias", 0, "true", "whether queries, keys and values have biases")
CHOICE(V_ATTENTION_OUTPUT_BIAS, BOOL, "attention.output_bias", 0, "true", "whether the output projection has a bias")
CHOICE(V_ATTENTION_QKV, NAME, "attention.qkv", NULLABLE, "qkv", "one projection for all three; null: each has its own")
CHOICE(V_ATTENTION_QUERY, NAME, "attention.query", 0, "q_proj", "the projection of queries")
CHOICE(V_ATTENTION_KEY, NAME, "attention.key", 0, "k_proj", "the projection of keys")
CHOICE(V_ATTENTION_VALUE, NAME, "attention.value", 0, "v_proj", "the projection of values")
CHOICE(V_ATTENTION_OUTPUT, NAME, "attention.output", 0, "proj", "the output projection")
CHOICE(V_ATTENTION_Q_NORM, NAME, "attention.q_norm", NULLABLE, NULL, "the norm of each head of queries; null: none")
CHOICE(V_ATTENTION_K_NORM, NAME, "attention.k_norm", NULLABLE, NULL, "the norm of each head of keys; null: none")
CHOICE(V_ATTENTION_WINDOW, INT, "attention.window", NULLABLE, 1, MAX_WINDOW, "null",
       "side, in pixels, of the windows in which patches see each other; null: none")
CHOICE(V_ATTENTION_WINDOWED, BOOL, "attention.windowed", BY_LAYER, "true",
       "with attention.window: whether a block is limited to it, or sees the whole frame")

CHOICE(V_ROTARY_NAME, NAME, "rotary.name", NULLABLE, "rotary_pos_emb",
       "the child that computes angles; null: no rotation")
CHOICE(V_ROTARY_TYPE, TEXT, "rotary.type", 0, "rope_parameters.rope_type ?? 'axial'",
       "axial: half of the angles of a head depend on the row, half on the column")
CHOICE(V_ROTARY_THETA, REAL, "rotary.theta", ABOVE, 0.0, "rope_parameters.rope_theta ?? rope_theta ?? 10000",
       "the base of their frequencies")

CHOICE(V_MLP_SIZE, INT, "mlp.size", 0, 1, MAX_SIZE, "intermediate_size", "inner width")
CHOICE(V_MLP_ACT, TEXT, "mlp.act", 0, "hidden_act", "the activation, as transformers' ACT2FN calls it")
CHOICE(V_MLP_BIAS, BOOL, "mlp.bias", 0, "true", "whether its projections have biases")
CHOICE(V_MLP_GATE, NAME, "mlp.gate", NULLABLE, NULL, "the gate; null: none, down(act(up(x)))")
CHOICE(V_MLP_UP, NAME, "mlp.up", 0, "linear_fc1", "the up projection")
CHOICE(V_MLP_DOWN, NAME, "mlp.down", 0, "linear_fc2", "the down projection")
CHOICE(V_MLP_ACT_NAME, NAME, "mlp.act_name", 0, "act_fn", "the child for the activation")

CHOICE(V_MERGER_NAME, NAME, "merger.name", 0, "merger",
       "the child of the tower that makes vectors for the language model")
CHOICE(V_MERGER_SIDE, INT, "merger.side", 0, 1, MAX_MERGE, "spatial_merge_size",
       "patches, in each direction, that become one vector")
CHOICE(V_MERGER_JOIN, WORD, "merger.join", 0, "beside mean", "beside",
       "how they are joined: side by side, or by their mean")
CHOICE(V_MERGER_CONV, NAME, "merger.conv", NULLABLE, NULL,
       "a Conv2d of the tower, whose kernel is that many patches, and whose output is the merger's input; null: "
       "consecutive patches are")
CHOICE(V_MERGER_NORM, NAME, "merger.norm", NULLABLE, "norm", "the norm of patches; null: none")
CHOICE(V_MERGER_BIAS, BOOL, "merger.bias", 0, "true", "whether its projections have biases")
CHOICE(V_MERGER_FIRST, NAME, "merger.first", 0, "linear_fc1", "the first projection of joined patches")
CHOICE(V_MERGER_INNER_SIZE, INT, "merger.inner_size", NULLABLE, 1, MAX_SIZE, "null",
       "its output width if there is a second projection; null: that of its input")
CHOICE(V_MERGER_INNER_NORM, NAME, "merger.inner_norm", NULLABLE, NULL, "a LayerNorm of its output; null: none")
CHOICE(V_MERGER_ACT, NAME, "merger.act", NULLABLE, "act_fn",
       "the activation after it; steps of a Sequential are mlp.0, mlp.1, mlp.2")
CHOICE(V_MERGER_ACT_KIND, TEXT, "merger.act_kind", NULLABLE, "null",
       "that activation, as transformers' ACT2FN calls it; null: torch's GELU")
CHOICE(V_MERGER_SECOND, NAME, "merger.second", NULLABLE, "linear_fc2", "the second projection; null: only the first")
CHOICE(V_MERGER_GATE, NAME, "merger.gate", NULLABLE, NULL,
       "before the second projection: a gate, act(gate(x)) * up(x); null: none")
CHOICE(V_MERGER_GATE_ACT, NAME, "merger.gate_act", 0, "act_fn", "the child for its activation, mlp.act")
CHOICE(V_MERGER_GATE_SIZE, INT, "merger.gate_size", 0, 1, MAX_SIZE, "intermediate_size", "width of the gate")
CHOICE(V_MERGER_UP, NAME, "merger.up", 0, "up_proj", "the projection that the gate multiplies")

CHOICE(V_DEEPSTACK_NAME, NAME, "deepstack.name", NULLABLE, NULL,
       "mergers of blocks' outputs for the first layers of the language model; null: none")
CHOICE(V_DEEPSTACK_USE, BOOL, "deepstack.use", BY_LAYER, "layer in deepstack_visual_indexes", "whether a block has one")

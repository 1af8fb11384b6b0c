start_from ../vision/qwen2_vl_v5_tied
edit model/config.json 's/"text_config": {/"text_config": "x", "other": {/'

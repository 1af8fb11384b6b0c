start_from ../vision/qwen2_vl_videos
edit model/config.json 's/"video_token_id": 63/"video_token_id": 60/'

echo '{"conversions": [{"kind": "rename", "source_patterns": "q_proj", "target_patterns": "query"}]}' >patch.json

echo '{"conversions": [{"kind": "rename", "source_pattern": "a", "target_patterns": "b"}]}' >patch.json

echo '{"without": ["a", "("]}' >patch.json

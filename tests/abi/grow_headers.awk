# Puts a field at the end of each struct of the SDK's headers, as a later minor version would. What is promised to keep its
# size (struct graft_error, and struct graft_join, which lies within another) keeps it.
/^struct graft_[a-z0-9_]+ \{$/ { inside = $2 != "graft_error" && $2 != "graft_join" }
inside && /^};$/ {
    print "    uint64_t added_later;"
    inside = 0
}
# The sizes of this version do not hold for the next.
/^GRAFT_ASSERT_SIZE\(/ { next }
{ print }

"""The method as functions of arrays that return integers; `ik_node.native` compiles them."""

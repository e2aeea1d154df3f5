// Syntax highlighting, loaded with the first block that names its language. Only some languages: all of them would be a megabyte.
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import graphql from "highlight.js/lib/languages/graphql";
import haskell from "highlight.js/lib/languages/haskell";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import latex from "highlight.js/lib/languages/latex";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import nginx from "highlight.js/lib/languages/nginx";
import perl from "highlight.js/lib/languages/perl";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { createElement, type ReactNode } from "react";

const languages = createLowlight({
	bash,
	c,
	cpp,
	csharp,
	css,
	diff,
	dockerfile,
	go,
	graphql,
	haskell,
	ini,
	java,
	javascript,
	json,
	kotlin,
	latex,
	lua,
	makefile,
	markdown,
	nginx,
	perl,
	php,
	python,
	r,
	ruby,
	rust,
	scala,
	shell,
	sql,
	swift,
	typescript,
	xml,
	yaml,
});

type Node = ReturnType<typeof languages.highlight>["children"][number];

/** Null for an unknown language. */
export function highlight(text: string, language: string): ReactNode {
	if (!languages.registered(language)) return null;
	return drawn(languages.highlight(language, text).children);
}

/** Only texts and spans with classes: whatever the code contains, it stays text. */
function drawn(nodes: readonly Node[]): ReactNode[] {
	return nodes.map((node, key) => {
		if (node.type === "text") return node.value;
		if (node.type !== "element") return null;
		const { className } = node.properties;
		return createElement(
			"span",
			{ key: String(key), className: Array.isArray(className) ? className.join(" ") : undefined },
			drawn(node.children),
		);
	});
}

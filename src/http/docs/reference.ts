// The readable reference: HTML from the OpenAPI document alone, so that it matches the server's checks. No script, nothing external, and
// all values are escaped.
import { html } from "hono/html";
import type { Html } from "../entry/html.ts";

/** As far as it is read here. */
export interface Described {
	readonly info: { readonly version: string; readonly description: string };
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Operation {
	readonly operationId: string;
	readonly summary?: string;
	readonly tags?: readonly string[];
	readonly parameters?: readonly Parameter[];
	readonly requestBody?: { readonly content: Content };
	readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Parameter {
	readonly name: string;
	readonly in: string;
	readonly required?: boolean;
	readonly schema: Schema;
}

interface Schema {
	readonly $ref?: string;
	readonly type?: string | readonly string[];
	readonly description?: string;
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly default?: unknown;
	readonly example?: unknown;
	readonly anyOf?: readonly Schema[];
	readonly oneOf?: readonly Schema[];
	readonly allOf?: readonly Schema[];
	readonly items?: Schema;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
}

interface Call extends Operation {
	readonly method: string;
	readonly path: string;
}

export function referenceOf({ info, paths, components }: Described): Html {
	const calls = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]): Call => ({ ...operation, method, path })),
	);
	const groups = Map.groupBy(calls, ({ tags }) => tags?.[0] ?? "");
	const names = [...groups.keys()].toSorted();
	const schemas = Object.entries(components?.schemas ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
	return html`<h1>Keryx ${info.version}: the API</h1>
<p>${info.description}</p>
<p>On a port each call needs <code>Authorization: Bearer</code> and a token, which <code>keryx token create</code> makes. The same as
OpenAPI 3.1: <code>GET /openapi.json</code>.</p>
<nav><ul>${names.map((name) => html`<li><a href="#${name}">${name}</a></li>`)}<li><a href="#shapes">shapes</a></li></ul></nav>
${names.map(
	(name) => html`<section><h2 id="${name}">${name}</h2>
${(groups.get(name) ?? []).map(callSection)}</section>`,
)}
<section><h2 id="shapes">shapes</h2>
${schemas.map(([name, schema]) => html`<h3 id="shape-${name}">${name}</h3>${shape(schema)}`)}</section>`;
}

function callSection(call: Call): Html {
	const { operationId, method, path, summary, parameters = [], requestBody, responses } = call;
	return html`<article><h3 id="call-${operationId}"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p>${summary ?? ""}</p>
${parameters.length === 0 ? "" : html`<h4>Parameters</h4>${parameterTable(parameters)}`}
${Object.entries(requestBody?.content ?? {}).map(
	([type, { schema }]) => html`<h4>Body, ${type}</h4>${shape(schema)}`,
)}
<h4>Answers</h4>
${Object.entries(responses).map(([status, { description, content = {} }]) => {
	const said = status === "default" ? "otherwise" : status;
	const [type, answer] = Object.entries(content)[0] ?? [];
	return html`<details><summary>${said}: ${description}${type === undefined ? "" : html`, <code>${type}</code>`}</summary>
${answer ? shape(answer.schema) : ""}</details>`;
})}
<h4>Example</h4>
<pre>${curl(call)}</pre></article>
`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
	return html`<div class="scroll"><table>${parameters.map(
		({ name, in: where, required, schema }) =>
			html`<tr><td><code>${name}</code></td><td>${where}${
				required ? ", required" : ""
			}</td><td>${typeOf(schema)}</td><td>${noteOn(schema)}</td></tr>`,
	)}</table></div>`;
}

/** The fields of an object, or its type. */
function shape(schema: Schema): Html {
	const { properties } = schema;
	if (!properties) return html`<p>${typeOf(schema)} ${noteOn(schema)}</p>`;
	const fields = Object.entries(properties);
	if (fields.length === 0) return html`<p><code>{}</code></p>`;
	return html`<div class="scroll"><table>${fields.map(
		([name, field]) =>
			html`<tr><td><code>${name}${
				schema.required?.includes(name) ? "" : "?"
			}</code></td><td>${typeOf(field)}</td><td>${noteOn(field)}</td></tr>`,
	)}</table></div>`;
}

function noteOn({ description, default: usual }: Schema): string {
	return [description ?? "", usual === undefined ? "" : `default ${JSON.stringify(usual)}`]
		.filter((part) => part !== "")
		.join("; ");
}

/** As TypeScript. */
function typeOf(schema: Schema): Html {
	const { $ref, anyOf, oneOf, allOf, items, properties } = schema;
	if ($ref !== undefined) {
		const name = $ref.split("/").at(-1) ?? "";
		return html`<a href="#shape-${name}">${name}</a>`;
	}
	if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
	if (schema.enum) return html`<code>${schema.enum.map((one) => JSON.stringify(one)).join(" | ")}</code>`;
	const several = anyOf ?? oneOf;
	if (several) return joined(several.map(typeOf), " | ");
	if (allOf) return joined(allOf.map(typeOf), " & ");
	if (items) return html`${typeOf(items)}<code>[]</code>`;
	if (properties)
		return html`{ ${joined(
			Object.entries(properties).map(
				([name, field]) =>
					html`<code>${name}${schema.required?.includes(name) ? "" : "?"}</code>: ${typeOf(field)}`,
			),
			", ",
		)} }`;
	const names = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["anything"]);
	return html`<code>${names.join(" | ")}</code>`;
}

function joined(parts: readonly Html[], between: string): Html {
	return html`${parts.map((part, index) => html`${index === 0 ? "" : between}${part}`)}`;
}

function curl({ method, path, parameters = [], requestBody }: Call): string {
	const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
	const query = parameters
		.filter((parameter) => parameter.in === "query" && parameter.required)
		.map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema)))}`);
	const url = `http://127.0.0.1:7717${filled}${query.length === 0 ? "" : `?${query.join("&")}`}`;
	const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
	const lines = [
		`curl${method === "get" || (method === "post" && body) ? "" : ` -X ${method.toUpperCase()}`} -H "Authorization: Bearer $TOKEN" "${url}"`,
		...(type === "application/json" && body
			? [
					`-H 'Content-Type: application/json' -d '${JSON.stringify(exampleOf(body.schema)).replaceAll("'", "'\\''")}'`,
				]
			: []),
		...(type !== undefined && type !== "application/json" ? ["--data-binary @file"] : []),
	];
	return lines.join(" \\\n  ");
}

/** A matching example; for an object, its required fields. */
function exampleOf(schema: Schema): unknown {
	const { example, default: usual, properties, required = [] } = schema;
	if (example !== undefined) return example;
	if (usual !== undefined) return usual;
	if (schema.const !== undefined) return schema.const;
	if (schema.enum) return schema.enum[0];
	const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
	if (first) return exampleOf(first);
	if (properties)
		return Object.fromEntries(
			Object.entries(properties)
				.filter(([name]) => required.includes(name))
				.map(([name, field]) => [name, exampleOf(field)]),
		);
	const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
	return EXAMPLES[type ?? ""] ?? "...";
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
	array: [],
	boolean: true,
	integer: 1,
	null: null,
	number: 1,
	object: {},
};

// Imports point downwards only, and never in a circle. The order is the one in CONTEXT.md, lowest first.
const layers = [
	"(errors|called|file-lock)\\.ts$",
	"(domain|render)/",
	"secrets/",
	"(config|time)/",
	"store/",
	"keeping/",
	"walls/",
	"(confirmations|processes|checkpoints|schedules)/",
	"(agents|tools)/",
	"gateway/",
	"channels/",
	"testing/",
	"(http|mcp)/",
	"update/",
	"app/",
	"cli/",
];

export default {
	forbidden: [
		{ name: "no-circle", severity: "error", from: {}, to: { circular: true } },
		...layers.slice(0, -1).map((layer, index) => ({
			name: `upwards-from-${layer.replace(/\W+/g, "-")}`,
			severity: "error",
			from: { path: `^src/${layer}`, pathNot: "\\.test\\.ts$" },
			to: { path: `^src/(${layers.slice(index + 1).join("|")})` },
		})),
		{
			name: "domain-is-pure",
			comment:
				"node:crypto is allowed: hashing is a function. Its random functions are refused by the lint rule.",
			severity: "error",
			from: { path: "^src/domain/", pathNot: "\\.test\\.ts$" },
			to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
		},
		{
			name: "page-talks-http",
			comment:
				"The page knows the server's types and nothing else of it; its build reads the table of calls.",
			severity: "error",
			from: { path: "^web/" },
			to: { path: "^src/", dependencyTypesNot: ["type-only"] },
		},
		{
			name: "page-knows-http-only",
			severity: "error",
			from: { path: "^web/" },
			to: { path: "^src/", pathNot: "^src/http/" },
		},
		{
			name: "nothing-knows-the-page",
			severity: "error",
			from: { path: "^src/" },
			to: { path: "^web/" },
		},
		{
			name: "faces-only",
			comment:
				"A capability is reached through its index.ts. The command line takes the parts of src/app one by one, and the client without the server, so that a command loads only what it uses.",
			severity: "error",
			from: { path: "^src/([^/]+)/" },
			to: {
				path: "^src/([^/]+)/.+",
				pathNot: [
					"^src/$1/",
					"^src/[^/]+/index\\.ts$",
					"^src/channels/[^/]+/index\\.ts$",
					"^src/http/client/index\\.ts$",
					"^src/app/",
				],
			},
		},
	],
	options: {
		tsPreCompilationDeps: true,
		tsConfig: { fileName: "tsconfig.json" },
		doNotFollow: { path: "node_modules" },
		includeOnly: "^(src|web|node:|crypto|fs)",
	},
};

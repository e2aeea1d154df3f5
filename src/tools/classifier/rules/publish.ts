// Commands that publish something for others: packages, releases, images.
import { names } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

const NPM = [
	"publish",
	"unpublish",
	"deprecate",
	"dist-tag add",
	"dist-tag rm",
	"owner add",
	"owner rm",
	"access",
	"token",
	"team",
	"org",
	"hook",
	"profile",
	"stage publish",
];

const PUBLISHERS: ReadonlyMap<string, readonly string[]> = new Map([
	["npm", NPM],
	["pnpm", NPM],
	["yarn", ["publish", "npm publish", "npm tag"]],
	["bun", ["publish"]],
	["deno", ["publish"]],
	["jsr", ["publish"]],
	["lerna", ["publish"]],
	["changeset", ["publish"]],
	["nx", ["release"]],
	["cargo", ["publish", "yank", "owner"]],
	["twine", ["upload"]],
	["poetry", ["publish"]],
	["uv", ["publish"]],
	["flit", ["publish"]],
	["hatch", ["publish"]],
	["pdm", ["publish"]],
	["gem", ["push", "yank", "owner"]],
	["docker", ["push", "image push", "manifest push", "compose push"]],
	["docker-compose", ["push"]],
	["podman", ["push", "image push"]],
	["buildah", ["push"]],
	["skopeo", ["copy", "sync", "delete"]],
	["crane", ["push", "copy", "delete"]],
	["helm", ["push", "cm-push"]],
	["mvn", ["deploy", "release:perform"]],
	["mvnw", ["deploy", "release:perform"]],
	["gradle", ["publish", "uploadArchives"]],
	["gradlew", ["publish", "uploadArchives"]],
	["dotnet", ["nuget push", "nuget delete"]],
	["nuget", ["push", "delete"]],
	["pod", ["trunk push"]],
	["vsce", ["publish", "unpublish"]],
	["ovsx", ["publish"]],
	["goreleaser", ["release"]],
	["gh", ["release create", "release delete", "release upload", "release edit"]],
	["snapcraft", ["upload", "push", "release"]],
	["conda", ["upload"]],
	["anaconda", ["upload"]],
	["dart", ["pub publish"]],
	["flutter", ["pub publish"]],
	["mix", ["hex.publish"]],
	["luarocks", ["upload"]],
	["semantic-release", []],
	["np", []],
]);

export const publishRule: Rule = {
	class: "publish",
	action: "publish_package",
	look({ name, args }) {
		if (args.some((arg) => arg.text === "--dry-run")) return null;
		if (name === "semantic-release" || name === "np") return { why: "publishes a release" };
		const module = args.findIndex((arg) => arg.text === "-m");
		if (module >= 0 && args[module + 1]?.text === "twine" && args.some((arg) => arg.text === "upload"))
			return { why: "publishes a package: twine upload" };
		if (
			/^(docker|podman)$/.test(name) &&
			names(args, ["buildx build", "build", "buildx bake"]) &&
			args.some((arg) => arg.text === "--push")
		)
			return { why: "publishes an image" };
		const verb = names(args, PUBLISHERS.get(name) ?? []);
		return verb
			? { why: `publishes or changes something that is public: ${shownOperand(`${name} ${verb}`)}` }
			: null;
	},
};

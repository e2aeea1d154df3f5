// Commands that deploy, change or destroy infrastructure and cloud resources.
import { names, operands } from "../options.ts";
import { shownOperand, UNKNOWN } from "../text.ts";
import type { Field, Finding, Rule } from "../types.ts";

const DEPLOYS: ReadonlyMap<string, readonly string[]> = new Map([
	["terraform", ["apply", "import", "taint", "untaint", "force-unlock"]],
	["tofu", ["apply", "import", "taint"]],
	["terragrunt", ["apply", "run-all apply", "run-all"]],
	["pulumi", ["up", "update", "import", "refresh"]],
	["cdk", ["deploy", "bootstrap"]],
	["sam", ["deploy"]],
	["serverless", ["deploy"]],
	["sls", ["deploy"]],
	["helm", ["install", "upgrade", "rollback"]],
	["vercel", ["deploy", "promote", "rollback", "alias"]],
	["netlify", ["deploy"]],
	["firebase", ["deploy"]],
	["wrangler", ["deploy", "publish"]],
	["fly", ["deploy", "launch", "scale"]],
	["flyctl", ["deploy", "launch", "scale"]],
	["railway", ["up"]],
	["eb", ["deploy"]],
	["cf", ["push"]],
	["gcloud", ["app deploy", "run deploy", "functions deploy"]],
	[
		"aws",
		[
			"cloudformation deploy",
			"cloudformation create-stack",
			"cloudformation update-stack",
			"deploy create-deployment",
			"lambda update-function-code",
			"ecs update-service",
		],
	],
	["az", ["deployment", "webapp up"]],
	["argocd", ["app sync"]],
	["nomad", ["job run", "run"]],
	["heroku", ["config:set", "config:unset", "releases:rollback", "pg:promote"]],
	["copilot", ["deploy", "svc deploy"]],
	["supabase", ["functions deploy"]],
	["cap", ["deploy"]],
	["kamal", ["deploy", "redeploy"]],
	["gh", ["workflow run", "pr merge"]],
]);
const DESTROYS: ReadonlyMap<string, readonly string[]> = new Map([
	["terraform", ["destroy", "state rm", "workspace delete"]],
	["tofu", ["destroy", "state rm"]],
	["terragrunt", ["destroy", "run-all destroy"]],
	["pulumi", ["destroy", "stack rm"]],
	["cdk", ["destroy"]],
	["sam", ["delete"]],
	["serverless", ["remove"]],
	["sls", ["remove"]],
	["helm", ["uninstall", "delete"]],
	["vercel", ["rm", "remove", "env rm"]],
	["nomad", ["job stop", "stop"]],
	["gh", ["repo delete", "secret delete", "run delete", "repo archive"]],
	["glab", ["repo delete", "project delete", "release delete", "variable delete"]],
	["hub", ["delete"]],
	["gsutil", ["rm", "rb"]],
	["consul", ["kv delete"]],
	["minikube", ["delete"]],
	["kind", ["delete"]],
	["k3d", ["cluster delete"]],
	["vagrant", ["destroy"]],
	["multipass", ["delete", "purge"]],
	["virsh", ["destroy", "undefine"]],
	["vault", ["delete", "kv delete", "kv destroy", "secrets disable"]],
]);
/** Command lines of clouds and hosters: what is not known to read is asked about. */
const CLOUDS =
	/^(aws|gcloud|az|doctl|heroku|fly|flyctl|firebase|ibmcloud|oci|linode-cli|hcloud|scw|vultr-cli|netlify|wrangler|railway|eksctl|argocd|openstack|s3cmd|bq|mc|gsutil|consul|eb)$/;
const DESTRUCTIVE =
	/^(delete|destroy|terminate|purge|remove|rm|rb|del|deprovision|nuke)$|^(delete|destroy|terminate|purge|remove|deregister|detach|revoke|disable|stop|reboot|schedule)-|:(destroy|delete|remove|reset)$/;
const READING =
	/^((describe|list|get|head|show|batch-get|search|lookup|query|scan|test|validate|estimate|filter|preview|check|view|info|tail|wait)(-.*)?|ls|ll|cat|stat|du|help|version|--version|logs|log|status|whoami|login|logout|sso|config|configure|init|projects|regions|emulators?|dev|serve|local|ps|apps|releases|open|types|kv|run|simulate|members|ping|monitor|import-?|completion|use|context|auth|diff|plan|set|build|link|inspect)$/;

export const infrastructureRule: Rule = {
	class: "infrastructure",
	action: "delete_data",
	look({ name, args }) {
		const destroyed = names(args, DESTROYS.get(name) ?? []);
		if (destroyed)
			return { why: `removes parts of running systems: ${shownOperand(`${name} ${destroyed}`)}` };
		if (/^(terraform|tofu)$/.test(name) && args.some((arg) => /^--?destroy$/.test(arg.text)))
			return { why: `removes parts of running systems: ${name}` };
		if (name === "gh" && names(args, ["api"]) && changesAccount(args))
			return { why: "changes things in an account", action: "run_command" };
		if (name === "vercel" && args.some((arg) => arg.text === "--prod"))
			return { why: "deploys to production: vercel", action: "deploy_production" };
		const deployed = names(args, DEPLOYS.get(name) ?? []);
		if (deployed)
			return {
				why: `deploys to production: ${shownOperand(`${name} ${deployed}`)}`,
				action: "deploy_production",
			};
		return CLOUDS.test(name) ? cloud(name, args) : null;
	},
};

/** Fields are sent as a POST, unless it is a query. */
function changesAccount(args: readonly Field[]): boolean {
	const line = args.map((arg) => arg.text).join(" ");
	if (/(-X|--method)[ =]?(DELETE|PUT|PATCH|POST)/i.test(line)) return true;
	if (/(-X|--method)[ =]?GET/i.test(line)) return false;
	if (names(args, ["api graphql"])) return /\bmutation\b/.test(line) || line.includes(UNKNOWN);
	return args.some((arg) => /^(-[fF]|--(raw-)?field|--input)/.test(arg.text));
}

function cloud(name: string, args: readonly Field[]): Finding | null {
	const words = operands(args);
	const verb = words.find((arg) => DESTRUCTIVE.test(arg.text));
	if (verb) return { why: `removes parts of running systems: ${shownOperand(`${name} ${verb.text}`)}` };
	if (name === "aws" && args.some((arg) => arg.text === "--delete"))
		return { why: "deletes files in remote storage" };
	const copied = words.findIndex((arg) => /^(cp|sync|mv|copy|rsync|put|upload)$/.test(arg.text));
	if (copied >= 0 && words.length > copied + 1) {
		const last = words.at(-1)?.text ?? "";
		// From there to here is a download.
		if (!/^\w+:\/\//.test(last) && words.slice(copied + 1, -1).every(({ text }) => /^\w+:\/\//.test(text)))
			return null;
		return { class: "upload", action: "run_command", why: "copies files into remote storage" };
	}
	if (words.length === 0 || words.slice(0, 4).some((arg) => READING.test(arg.text))) return null;
	return {
		why: `may change things in an account: ${shownOperand(`${name} ${words[0]?.text ?? ""}`)}`,
		action: "run_command",
	};
}

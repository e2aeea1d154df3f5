import { names, operands } from "../field.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

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
	["gsutil", ["rm", "rb", "rsync"]],
	["minikube", ["delete"]],
	["kind", ["delete"]],
	["k3d", ["cluster delete"]],
	["vagrant", ["destroy"]],
	["multipass", ["delete", "purge"]],
	["virsh", ["destroy", "undefine"]],
	["vault", ["delete", "kv delete", "kv destroy", "secrets disable"]],
]);
const CLOUDS =
	/^(aws|gcloud|az|doctl|heroku|fly|flyctl|firebase|ibmcloud|oci|linode-cli|hcloud|scw|vultr-cli|netlify|wrangler|railway|eksctl|argocd|openstack|s3cmd|bq|mc)$/;
const DESTRUCTIVE =
	/^(delete|destroy|terminate|purge|remove|rm|rb|del|deprovision|nuke)$|^(delete|destroy|terminate|purge|remove|deregister|detach|revoke|disable|stop|reboot)-|:(destroy|delete|remove|reset)$/;

export const infrastructureRule: Rule = {
	name: "infrastructure",
	action: "delete_data",
	look({ name, args }) {
		const destroyed = names(args, DESTROYS.get(name) ?? []);
		if (destroyed)
			return { why: `removes parts of running systems: ${shownOperand(`${name} ${destroyed}`)}` };
		if (CLOUDS.test(name)) {
			const verb = operands(args).find((arg) => DESTRUCTIVE.test(arg.text));
			if (verb) return { why: `removes parts of running systems: ${shownOperand(`${name} ${verb.text}`)}` };
			if (name === "aws" && args.some((arg) => arg.text === "--delete"))
				return { why: "deletes files in remote storage" };
		}
		if (/^(terraform|tofu)$/.test(name) && args.some((arg) => /^--?destroy$/.test(arg.text)))
			return { why: `removes parts of running systems: ${name}` };
		if (
			name === "gh" &&
			names(args, ["api"]) &&
			/(-X|--method)[ =]?(DELETE|PUT|PATCH|POST)/.test(args.map((arg) => arg.text).join(" "))
		)
			return { why: "changes things in an account", action: "run_command" };
		if (name === "vercel" && args.some((arg) => arg.text === "--prod"))
			return { why: "puts something into production: vercel", action: "deploy_production" };
		const deployed = names(args, DEPLOYS.get(name) ?? []);
		if (!deployed) return null;
		return {
			why: `puts something into production: ${shownOperand(`${name} ${deployed}`)}`,
			action: "deploy_production",
		};
	},
};

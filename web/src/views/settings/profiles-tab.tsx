// The profiles: several agents in one Keryx, each with its own model, tools and files.
import { useNavigate } from "@tanstack/react-router";
import { useApi } from "../../api/index.ts";
import { Button, type Column, ErrorState, SkeletonRows, Table } from "../../ui/index.ts";
import { type Profile, profileName } from "../conversations/profiles.ts";

export function ProfilesTab() {
	const { data, error, refetch } = useApi("profiles", {}, { on: ["config"] });
	const navigate = useNavigate();
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	const columns: readonly Column<Profile>[] = [
		{ name: "Profile", cell: ({ name }) => <span className="font-medium">{profileName(name)}</span> },
		{ name: "Answered by", cell: ({ agent, model }) => model ?? agent },
		{ name: "Provider", wideOnly: true, cell: ({ provider }) => provider ?? "" },
		{
			name: "Talk",
			align: "right",
			cell: ({ name }) => (
				<Button
					size="sm"
					aria-label={`New chat with ${profileName(name)}`}
					onClick={() =>
						void navigate({
							to: "/c/$conversation",
							params: { conversation: "new" },
							search: name === "" ? {} : { profile: name },
						})
					}
				>
					New chat
				</Button>
			),
		},
	];
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-4 py-4">
			<p className="max-w-160 px-4 text-ink-2 lg:px-6">
				Each profile is an agent of its own, with its own model, instructions, tools and files. Nothing that
				is said to one reaches another. Profiles are added under{" "}
				<code className="font-mono text-xs">profiles</code> in config.yaml and can be talked to at once.
			</p>
			<Table label="Profiles" columns={columns} rows={data.profiles} rowKey={({ name }) => name} />
		</div>
	);
}

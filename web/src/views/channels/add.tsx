// Connecting a chat platform: the bot's token is tried before anything is written.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api, useApi } from "../../api/index.ts";
import { Button, Dialog, ErrorLine, Field, Input, platformName, Select } from "../../ui/index.ts";

/** Where a token comes from, by platform. */
const WHERE: Readonly<Record<string, string>> = {
	telegram: "In Telegram, write /newbot to @BotFather. It answers with the token.",
	discord:
		"In the Developer Portal (discord.com/developers), create an application. Under Bot, turn on Message Content Intent and press Reset Token.",
	slack: "At api.slack.com/apps, under Install App: it begins with xoxb-.",
};

/** Where the second one comes from. */
const WHERE_APP =
	"Under Basic Information, App-Level Tokens, with the scope connections:write: it begins with xapp-.";

/** The token is known to this form alone, and gone when it is left. */
export function useChannelForm() {
	const { data: known } = useApi("channelPlatforms", {});
	const [platform, setPlatform] = useState("telegram");
	const [token, setToken] = useState("");
	const [appToken, setAppToken] = useState("");
	const [account, setAccount] = useState("");
	const [address, setAddress] = useState("");
	const form = useId();
	const needsApp = known?.app_token.includes(platform) ?? false;
	const isComplete = token.trim() !== "" && (!needsApp || appToken.trim() !== "");
	const { mutate, data, isPending, error } = useMutation({
		mutationFn: () => {
			const second = account.trim();
			return api.addChannel({
				platform,
				token: token.trim(),
				...(needsApp && { app_token: appToken.trim() }),
				...(address.trim() !== "" && { api_root: address.trim() }),
				...(second !== "" && { account: second, name: `${platform}-${second.toLowerCase()}` }),
			});
		},
		gcTime: 0,
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		mutate();
	};
	const fields = (
		<form id={form} className="flex flex-col gap-3" onSubmit={submit}>
			<Field label="Platform">
				{(id) => (
					<Select id={id} value={platform} onChange={({ target }) => setPlatform(target.value)}>
						{(known?.platforms ?? [platform]).map((name) => (
							<option key={name} value={name}>
								{platformName(name)}
							</option>
						))}
					</Select>
				)}
			</Field>
			<Field label="Bot token" about={WHERE[platform]}>
				{(id) => (
					<Input
						id={id}
						type="password"
						value={token}
						autoComplete="off"
						spellCheck={false}
						onChange={({ target }) => setToken(target.value)}
					/>
				)}
			</Field>
			{needsApp && (
				<Field label="App-level token" about={WHERE_APP}>
					{(id) => (
						<Input
							id={id}
							type="password"
							value={appToken}
							autoComplete="off"
							spellCheck={false}
							onChange={({ target }) => setAppToken(target.value)}
						/>
					)}
				</Field>
			)}
			<details>
				<summary className="w-fit cursor-pointer rounded-xs text-sm text-ink-2">
					A second bot, or another API server
				</summary>
				<div className="mt-2 flex flex-col gap-3">
					<Field label="Account" about="Only for a second bot on the same platform.">
						{(id) => (
							<Input
								id={id}
								value={account}
								maxLength={64}
								autoComplete="off"
								spellCheck={false}
								onChange={({ target }) => setAccount(target.value)}
							/>
						)}
					</Field>
					<Field
						label="API address"
						about="Only for an API server of your own, such as http://127.0.0.1:8081."
					>
						{(id) => (
							<Input
								id={id}
								type="url"
								value={address}
								spellCheck={false}
								onChange={({ target }) => setAddress(target.value)}
							/>
						)}
					</Field>
				</div>
			</details>
			{error && <ErrorLine error={error} />}
		</form>
	);
	return { fields, form, platform, isComplete, isPending, added: data };
}

export function AddChannel({ onClose }: { readonly onClose: () => void }) {
	const { fields, form, platform, isComplete, isPending, added: data } = useChannelForm();
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={data ? `${data.who} is connected` : "Add a channel"}
			about={
				data
					? `Write to it in ${platformName(platform)}. The first message shows here as a request to be let in.`
					: "Talk to your agent in a chat app."
			}
			actions={
				data ? (
					<Button look="primary" onClick={onClose}>
						Done
					</Button>
				) : (
					<>
						<Button onClick={onClose}>Cancel</Button>
						<Button look="primary" type="submit" form={form} disabled={isPending || !isComplete}>
							{isPending ? "Trying the token…" : "Connect"}
						</Button>
					</>
				)
			}
		>
			{data ? (
				data.remarks.length === 0 ? (
					<p>
						Saved as <code className="font-mono text-sm">channels.{data.name}</code> in config.yaml.
					</p>
				) : (
					<ul className="list-disc pl-5">
						{data.remarks.map((remark) => (
							<li key={remark}>{remark}</li>
						))}
					</ul>
				)
			) : (
				fields
			)}
		</Dialog>
	);
}

// Connecting a chat platform. The bot's token is tried before anything is written.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { Button, Dialog, ErrorLine, Field, Input, Marked, platformName, Select } from "../../ui/index.ts";
import { useNetworkFields } from "./network.tsx";

/** How to get a token, by platform. */
const WHERE: Readonly<Record<string, string>> = {
	telegram: texts.add.inTelegramSendNewbotTo,
	discord: texts.add.inTheDeveloperPortalDiscord,
	slack: texts.add.onApiSlackComApps,
};

/** Platforms that can post to a webhook. By default Keryx connects to the platform. */
const CAN_POST: ReadonlySet<string> = new Set(["telegram", "slack"]);

/** The token exists only in this form, and is gone when the form is left. */
export function useChannelForm() {
	const { data: known } = useApi("channelPlatforms", {});
	const [platform, setPlatform] = useState("telegram");
	const [token, setToken] = useState("");
	const [second, setSecond] = useState("");
	const [isPosted, setIsPosted] = useState(false);
	const [webhook, setWebhook] = useState<string | null>(null);
	const [account, setAccount] = useState("");
	const [address, setAddress] = useState("");
	const form = useId();
	const ofPlatform = known?.networks.find((one) => one.platform === platform);
	const network = useNetworkFields(ofPlatform);
	const isNetwork = ofPlatform !== undefined;
	const needsSecond = known?.app_token.includes(platform) ?? false;
	const posts = isPosted && CAN_POST.has(platform);
	const needsAddress = posts && !needsSecond;
	const publicAddress = (webhook ?? known?.public_url ?? "").trim();
	const isComplete = isNetwork
		? network.isComplete
		: token.trim() !== "" &&
			(!needsSecond || second.trim() !== "") &&
			(!needsAddress || publicAddress !== "");
	const { mutate, data, isPending, error } = useMutation({
		mutationFn: () => {
			const name = account.trim();
			const entry = {
				platform,
				...(name !== "" && { account: name, name: `${platform}-${name.toLowerCase()}` }),
			};
			if (isNetwork) return api.addChannel({ ...entry, ...network.body });
			return api.addChannel({
				...entry,
				token: token.trim(),
				...(needsSecond && { [posts ? "signing_secret" : "app_token"]: second.trim() }),
				...(needsAddress && { webhook_url: publicAddress }),
				...(address.trim() !== "" && { api_root: address.trim() }),
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
			<Field label={texts.add.platform}>
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
			{isNetwork ? (
				network.fields
			) : (
				<Field label={texts.add.botToken} about={WHERE[platform]}>
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
			)}
			{needsSecond && (
				<Field
					key={posts ? "signing secret" : "app token"}
					label={posts ? texts.add.signingSecret : texts.add.appLevelToken}
					about={posts ? texts.add.onTheSameSiteSigningSecret : texts.add.onTheSameSiteUnder}
				>
					{(id) => (
						<Input
							id={id}
							type="password"
							value={second}
							autoComplete="off"
							spellCheck={false}
							onChange={({ target }) => setSecond(target.value)}
						/>
					)}
				</Field>
			)}
			<details>
				<summary className="w-fit cursor-pointer rounded-xs text-sm text-ink-2">
					{texts.add.moreOptions}
				</summary>
				<div className="mt-2 flex flex-col gap-3">
					{CAN_POST.has(platform) && (
						<Field label={texts.add.howMessagesArrive} about={texts.add.onlyIfOthersReachKeryx}>
							{(id) => (
								<Select
									id={id}
									value={posts ? "posted" : "asked"}
									onChange={({ target }) => {
										setIsPosted(target.value === "posted");
										setSecond("");
									}}
								>
									<option value="asked">{texts.add.keryxAsks(platformName(platform))}</option>
									<option value="posted">{texts.add.itPosts(platformName(platform))}</option>
								</Select>
							)}
						</Field>
					)}
					{needsAddress && (
						<Field label={texts.add.publicAddress} about={texts.add.whereTelegramReachesKeryx}>
							{(id) => (
								<Input
									id={id}
									type="url"
									value={webhook ?? known?.public_url ?? ""}
									spellCheck={false}
									onChange={({ target }) => setWebhook(target.value)}
								/>
							)}
						</Field>
					)}
					{isNetwork && network.more}
					<Field label={texts.add.account} about={texts.add.onlyForASecondBot}>
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
					{!isNetwork && (
						<Field label={texts.add.aPIAddress} about={texts.add.onlyIfYouRunYour}>
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
					)}
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
			title={data ? texts.add.isConnected(data.who) : texts.add.addAChannel}
			about={data ? texts.add.nowSendItAMessage(platformName(platform)) : texts.add.talkToYourAgentIn}
			actions={
				data ? (
					<Button look="primary" onClick={onClose}>
						{texts.add.done}
					</Button>
				) : (
					<>
						<Button onClick={onClose}>{texts.add.cancel}</Button>
						<Button look="primary" type="submit" form={form} disabled={isPending || !isComplete}>
							{isPending ? texts.add.checkingTheToken : texts.add.connect}
						</Button>
					</>
				)
			}
		>
			{data ? (
				data.remarks.length === 0 ? (
					<p>
						<Marked text={texts.add.savedAsChannelsInConfig(data.name)} />
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

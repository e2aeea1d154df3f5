// Connecting a chat platform: the bot's token is tried before anything is written.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { Button, Dialog, ErrorLine, Field, Input, Marked, platformName, Select } from "../../ui/index.ts";

/** Where a token comes from, by platform. */
const WHERE: Readonly<Record<string, string>> = {
	telegram: texts.add.inTelegramSendNewbotTo,
	discord: texts.add.inTheDeveloperPortalDiscord,
	slack: texts.add.onApiSlackComApps,
};

/** Where the second one comes from. */
const WHERE_APP = texts.add.onTheSameSiteUnder;

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
			{needsApp && (
				<Field label={texts.add.appLevelToken} about={WHERE_APP}>
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
					{texts.add.aSecondBotOrAnother}
				</summary>
				<div className="mt-2 flex flex-col gap-3">
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

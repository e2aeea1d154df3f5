// An icon for each platform. Known ones are letters in the platform's colour family, drawn by us: logos belong to their brands.
import {
	CalendarClock,
	Globe,
	Mail,
	MessageCircle,
	Phone,
	SquareTerminal,
	Webhook,
	Workflow,
} from "lucide-react";
import type { ReactNode } from "react";

const ICONS: Readonly<Record<string, ReactNode>> = {
	local: <SquareTerminal />,
	web: <Globe />,
	api_server: <Workflow />,
	webhook: <Webhook />,
	schedule: <CalendarClock />,
	email: <Mail />,
	sms: <Phone />,
};

/** Two letters are easier to tell apart than more speech bubbles. */
const LETTERS: Readonly<Record<string, string>> = {
	telegram: "Te",
	discord: "Di",
	slack: "Sl",
	whatsapp: "Wa",
	whatsapp_cloud: "Wa",
	signal: "Si",
	matrix: "Mx",
	irc: "Ir",
	mattermost: "Mm",
	teams: "Ms",
	line: "Li",
	feishu: "Fe",
	dingtalk: "Dt",
	wecom: "Wc",
	qqbot: "Qq",
	homeassistant: "Ha",
	bluebubbles: "Bb",
};

const NAMES: Readonly<Record<string, string>> = {
	local: "Terminal",
	web: "This page",
	api_server: "API",
	schedule: "Scheduled job",
	sms: "SMS",
	irc: "IRC",
	whatsapp: "WhatsApp",
	whatsapp_cloud: "WhatsApp Cloud",
	qqbot: "QQ",
	homeassistant: "Home Assistant",
	bluebubbles: "BlueBubbles",
	wecom: "WeCom",
	dingtalk: "DingTalk",
};

export function platformName(platform: string): string {
	return NAMES[platform] ?? platform.charAt(0).toUpperCase() + platform.slice(1).replaceAll("_", " ");
}

export function PlatformIcon({ platform }: { readonly platform: string }) {
	const letters = LETTERS[platform];
	return (
		<span
			role="img"
			aria-label={platformName(platform)}
			title={platformName(platform)}
			className="inline-flex size-5 shrink-0 items-center justify-center rounded-xs bg-hover text-ink-2 [&_svg]:size-3.5"
		>
			{letters === undefined ? (
				(ICONS[platform] ?? <MessageCircle />)
			) : (
				<span aria-hidden className="text-[10px] font-semibold leading-none tracking-tight">
					{letters}
				</span>
			)}
		</span>
	);
}

// Notifies a person who is looking elsewhere of a waiting question or an answer, with a browser notification and a short sound. The person
// is asked for permission once. Only one of several tabs does this; it stays connected while hidden.

import { api } from "../api/index.ts";
import type { LiveEvent } from "../api/types.ts";
import { readLocal, writeLocal } from "../lib/storage.ts";
import { createValue } from "../lib/value.ts";
import { onFrames, stayConnected } from "../live/index.ts";
import { texts } from "../texts/app.ts";

type Choice = "unasked" | "on" | "off";

const NAME = "notify";
const choice = createValue<Choice>(canNotify() ? read() : "off");
export const useNotifyChoice = choice.use;

/** A yes also needs the browser's permission, which may be refused. */
export async function chooseNotifications(wanted: boolean): Promise<void> {
	const granted = wanted && (await Notification.requestPermission()) === "granted";
	writeLocal(NAME, granted ? "on" : "off");
	choice.set(granted ? "on" : "off");
	if (granted) holdTheLine();
}

export function followForNotifications(): void {
	if (choice.get() === "on") holdTheLine();
	onFrames((frames) => {
		if (choice.get() !== "on" || !isTeller || isLookedAt()) return;
		for (const frame of frames) if (frame.kind === "event") void tell(frame.event);
	});
}

let isTeller = false;

/** One tab of this browser holds the lock; when it closes, the next tab gets it. */
function holdTheLine(): void {
	void navigator.locks.request("keryx-notifier", async () => {
		isTeller = true;
		stayConnected(() => choice.get() === "on");
		await new Promise(() => {});
	});
}

async function tell({ type, conversation, facts }: LiveEvent): Promise<void> {
	if (conversation === null) return;
	const what =
		type === "confirmation.requested"
			? texts.notify.needsYourDecision
			: type === "turn.ended" && facts.outcome === "completed"
				? texts.notify.hasAnswered
				: null;
	if (what === null) return;
	const { name, preview, waiting } = await api.conversation({ conversation });
	// A turn that ends with a question has no answer yet. The question has its own event.
	if (type === "turn.ended" && waiting) return;
	const body = type === "turn.ended" ? preview : texts.notify.openItToDecide;
	const notice = new Notification(`${name} ${what}`, {
		body,
		tag: `${conversation} ${type}`,
		icon: "/icon-192.png",
	});
	notice.onclick = () => {
		window.focus();
		window.location.assign(type === "turn.ended" ? `/c/${conversation}` : "/confirmations");
	};
	sound();
}

/** Two short notes, generated here so that no file is loaded. */
function sound(): void {
	const context = new AudioContext();
	for (const [index, pitch] of [660, 880].entries()) {
		const at = context.currentTime + index * 0.12;
		const tone = context.createOscillator();
		const volume = context.createGain();
		tone.frequency.value = pitch;
		volume.gain.setValueAtTime(0.08, at);
		volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.18);
		tone.connect(volume).connect(context.destination);
		tone.start(at);
		tone.stop(at + 0.2);
	}
	setTimeout(() => void context.close(), 1000);
}

function isLookedAt(): boolean {
	return document.visibilityState === "visible" && document.hasFocus();
}

function canNotify(): boolean {
	return typeof Notification === "function" && "locks" in navigator && Notification.permission !== "denied";
}

function read(): Choice {
	const kept = readLocal(NAME);
	if (kept === "on") return Notification.permission === "granted" ? "on" : "unasked";
	return kept === "off" ? "off" : "unasked";
}

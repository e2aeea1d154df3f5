// A receipt names the messages of a delivery. A group that becomes a supergroup gets another id and new message numbers: so a receipt
// names the chat too, unless it can never move.

const RECEIPT = /^(?:(-?\d+)\/)?(\d+(?:,\d+)*)$/;

interface Receipt {
	/** Absent: the delivery's own chat. */
	readonly chat?: string;
	/** The first has the text. */
	readonly ids: readonly number[];
}

export function receiptOf(
	destination: string,
	ids: readonly number[],
	{ chatNow }: { readonly chatNow: (chatId: string) => string },
): string {
	const chat = chatNow(destination);
	const isNamed = chat !== destination || isSmallGroup(chat);
	return `${isNamed ? `${chat}/` : ""}${ids.join(",")}`;
}

export function isReceipt(receipt: string): boolean {
	return RECEIPT.test(receipt);
}

export function readReceipt(receipt: string): Receipt {
	const [, chat, ids = ""] = RECEIPT.exec(receipt) ?? [];
	return { ...(chat !== undefined && { chat }), ids: ids.split(",").map(Number) };
}

/** Ids of supergroups and channels start with -100. */
function isSmallGroup(chat: string): boolean {
	return Number(chat) < 0 && Number(chat) > -1_000_000_000_000;
}

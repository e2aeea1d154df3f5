// A receipt names the messages that a delivery became. A group that becomes a supergroup gets another id, and numbers its messages anew:
// so a receipt names the chat too, unless that can never move.

const RECEIPT = /^(?:(-?\d+)\/)?(\d+(?:,\d+)*)$/;

interface Receipt {
	/** Left out: the one that the delivery is for. */
	readonly chat?: string;
	/** The first has the words. */
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

/** Ids of supergroups and channels begin with -100. */
function isSmallGroup(chat: string): boolean {
	return Number(chat) < 0 && Number(chat) > -1_000_000_000_000;
}

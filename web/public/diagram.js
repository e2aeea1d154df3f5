// Draws diagrams for the page that frames this one. It has no origin: it can read nothing of that page, of its storage or of its server.
let library = null;

addEventListener("message", (event) => void draw(event));

async function draw({ source, data }) {
	if (source !== parent) return;
	const { id, text, isDark, library: address } = data;
	try {
		library ??= load(address);
		await library;
		mermaid.initialize({
			startOnLoad: false,
			securityLevel: "strict",
			theme: isDark ? "dark" : "neutral",
			htmlLabels: false,
			flowchart: { htmlLabels: false },
			fontFamily: "system-ui, sans-serif",
		});
		const { svg } = await mermaid.render(`diagram${id}`, text);
		parent.postMessage({ id, svg }, "*");
	} catch {
		parent.postMessage({ id, svg: null }, "*");
	}
}

function load(address) {
	return new Promise((resolve, reject) => {
		const script = document.createElement("script");
		script.src = address;
		script.onload = resolve;
		script.onerror = reject;
		document.head.append(script);
	});
}

parent.postMessage({ ready: true }, "*");

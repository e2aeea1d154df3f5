// Keeps the built page's own files, so that the page opens and says so while Keryx is away. It answers for nothing else: what the API
// says is never kept, and a login goes straight to the server. The server is always asked first for the page itself, so that an update
// is seen at the next load.
const CACHE = "keryx-page";
const INDEX = "/";
/** Each file has one form, whatever form of it was asked for. */
const ANY_FORM = { ignoreVary: true };
const FILES = /^\/(?:assets\/|favicon|icon-|theme\.js$|manifest\.webmanifest$)/;

self.addEventListener("install", (event) => {
	event.waitUntil(keepFirstView().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
	event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
	const { request } = event;
	const url = new URL(request.url);
	if (request.method !== "GET" || url.origin !== self.location.origin) return;
	if (request.mode === "navigate") {
		if (
			!/^\/(?:login|docs|openapi\.json|diagram\.html|api|v1|confirm|metrics|health|ready)(?:\/|$)/.test(
				url.pathname,
			)
		)
			event.respondWith(page(request));
	} else if (FILES.test(url.pathname)) event.respondWith(file(request));
});

async function page(request) {
	try {
		const response = await fetch(request);
		if (response.ok && /^text\/html/.test(response.headers.get("content-type") ?? ""))
			await keepIndex(response.clone());
		return response;
	} catch (error) {
		const kept = await (await caches.open(CACHE)).match(INDEX, ANY_FORM);
		if (kept) return kept;
		throw error;
	}
}

/** The names of assets change with their content: one that is kept is right. Anything else is asked for first. */
async function file(request) {
	const cache = await caches.open(CACHE);
	const kept = await cache.match(request, ANY_FORM);
	if (kept && new URL(request.url).pathname.startsWith("/assets/")) return kept;
	try {
		const response = await fetch(request);
		if (response.ok) await cache.put(request, response.clone());
		return response;
	} catch (error) {
		if (kept) return kept;
		throw error;
	}
}

/** Another index is another build: what was kept of the one before is of no use. */
async function keepIndex(response) {
	const cache = await caches.open(CACHE);
	const before = await cache.match(INDEX, ANY_FORM);
	const text = await response.clone().text();
	if (before && (await before.text()) !== text) for (const key of await cache.keys()) await cache.delete(key);
	await cache.put(INDEX, response);
}

async function keepFirstView() {
	const response = await fetch(INDEX, { headers: { accept: "text/html" } });
	if (!response.ok) return;
	const text = await response.clone().text();
	await keepIndex(response);
	const cache = await caches.open(CACHE);
	const named = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
	await cache.addAll(named.filter((path) => FILES.test(path)));
}

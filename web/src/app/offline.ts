// The page opens without Keryx, too, and says that it is away. The service worker keeps the needed files.
export function keepForOffline(): void {
	if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
	// After the first view: it is for the next. Without it, the page needs Keryx.
	const register = () => void navigator.serviceWorker.register("/sw.js").catch(() => undefined);
	if (document.readyState === "complete") register();
	else window.addEventListener("load", register, { once: true });
}

/** Keryx's logo: the herald's staff. */
export function Mark({ size = 22 }: { readonly size?: number }) {
	return (
		<svg
			aria-hidden
			width={size}
			height={size}
			viewBox="0 0 24 24"
			fill="none"
			stroke="currentColor"
			strokeWidth="2"
			strokeLinecap="round"
		>
			<path d="M7.5 2c0 2.6 2 4.2 4.5 4.2S16.5 4.6 16.5 2" />
			<circle cx="12" cy="10.4" r="4.2" />
			<path d="M12 14.6V22" />
		</svg>
	);
}

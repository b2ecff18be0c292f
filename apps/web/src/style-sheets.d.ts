/** Style sheets are imported for their side effects; Vite bundles them. */
declare module '*.css';

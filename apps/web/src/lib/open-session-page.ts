type Open = (session: string) => Promise<void>;

let open: Open = async () => undefined;

/** The router registers once how a session’s page is opened, so that code outside of components can open one. */
export const onOpenSession = (handler: Open): void => {
  open = handler;
};

export const openSessionPage: Open = (session) => open(session);

type Open = (session: string) => Promise<void>;

let open: Open = async () => undefined;

/** Called once by the router, so that code outside components can open a session page. */
export const onOpenSession = (handler: Open): void => {
  open = handler;
};

export const openSessionPage: Open = (session) => open(session);

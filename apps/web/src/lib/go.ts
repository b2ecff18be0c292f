type Open = (session: string) => Promise<void>;

let open: Open = async () => undefined;

/** The router says once how a session's page is opened; what is no component then can go there. */
export const onOpenSession = (handler: Open): void => {
  open = handler;
};

export const openSessionPage: Open = (session) => open(session);

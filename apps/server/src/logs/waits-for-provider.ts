/** Why a session waits for its model’s provider; with `seconds` also when it is tried next. */
export const waitsForProvider = ({ error, seconds }: { error: string; seconds?: number }): string =>
  `Waiting for the provider: ${error}` +
  (seconds === undefined ? '' : ` Next try in ${Math.max(1, Math.round(seconds))} s.`);

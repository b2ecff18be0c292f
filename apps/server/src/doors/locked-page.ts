/** What a browser without a token is shown. The form's answer is the same `?token=` as in the printed address. */
export const lockedPage = (wrong: boolean): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belay is locked</title>
<meta name="color-scheme" content="light dark">
<style>
  body { font: 14px/20px system-ui, sans-serif; max-width: 26rem; margin: 24vh auto; padding: 0 1rem }
  h1 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 0 }
  label { display: block; font-weight: 500; margin-bottom: 4px }
  form { margin-top: 20px }
  div { display: flex; gap: 8px }
  input, button { font: inherit; height: 32px; box-sizing: border-box; border-radius: 5px; padding: 0 12px; border: 1px solid #8a8a85 }
  input { flex: 1; min-width: 0; background: Canvas; color: CanvasText }
  button { background: CanvasText; color: Canvas; font-weight: 500; cursor: pointer }
  :focus-visible { outline: 2px solid light-dark(#935000, #f5b83d); outline-offset: 1px }
  [role=alert] { color: light-dark(#b3261e, #ff7b72) }
</style>
<main>
<h1>Belay is locked</h1>
${wrong ? '<p role="alert">That is not a token of this server.</p>' : ''}
<p>Open the address with its token: <code>npm start</code> prints it, and <code>npx belay open</code> shows it again.</p>
<form>
<label for="token">Or paste the token</label>
<div><input id="token" name="token" type="password" autocomplete="current-password" required autofocus><button>Open</button></div>
</form>
</main>
`;

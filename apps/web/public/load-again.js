// Loads the page again if a script or style of it has not arrived. A browser drops its requests whenever a network
// interface of its machine appears or goes, as those of containers do, and never repeats those of modules. Plain
// JavaScript without imports, because nothing else is there when it is needed.
(() => {
  const key = 'belay.failed-loads';
  const most = 5;
  let hasFailed = false;

  addEventListener('error', onError, true);
  addEventListener('load', () => {
    // What is loaded later has messages and retries of its own.
    removeEventListener('error', onError, true);
    if (!hasFailed) sessionStorage.removeItem(key);
  });

  function onError({ target }) {
    const isNeeded =
      target instanceof HTMLScriptElement ||
      (target instanceof HTMLLinkElement && target.rel === 'stylesheet');
    if (!isNeeded || hasFailed) return;
    hasFailed = true;
    const times = Number(sessionStorage.getItem(key)) + 1;
    sessionStorage.setItem(key, String(times));
    if (times > most) giveUp();
    else setTimeout(() => location.reload(), 200 * times);
  }

  function giveUp() {
    const text = document.createElement('p');
    text.textContent =
      'Belay could not be loaded: the connection to its server broke several times.';
    const button = document.createElement('button');
    button.textContent = 'Try again';
    button.style.cssText =
      'margin-top: 1rem; padding: 0.4rem 0.8rem; border: 1px solid; border-radius: 6px; font: inherit';
    button.addEventListener('click', () => {
      sessionStorage.removeItem(key);
      location.reload();
    });
    const message = document.createElement('main');
    message.style.cssText =
      'font: 16px system-ui; max-width: 32rem; margin: 20vh auto; padding: 1rem';
    message.append(text, button);
    document.body.replaceChildren(message);
  }
})();

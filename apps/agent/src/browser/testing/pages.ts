import type { IncomingMessage, ServerResponse } from 'node:http';

const html = (title: string, body: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`;

const routes: Record<string, string> = {
  '/': html(
    'Home',
    `<h1>Welcome</h1><p>Hello, <b>you</b>.</p><p style="display:none">hidden words</p>
    <a href="/about">About us</a>
    <form action="/sent">
      <label>Your name <input name="name" value="Ada"></label>
      <label for="colour">Colour</label>
      <select id="colour" name="colour"><option value="r">Red</option><option value="g">Green</option><option value="b">Blue</option></select>
      <input type="date" name="day" aria-label="Day">
      <label><input type="checkbox" name="news" checked> News</label>
      <button>Send</button>
    </form>
    <div id="host"></div><iframe src="/frame"></iframe>
    <script>
      document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<p>in a shadow</p>';
      console.log('ready');
    </script>`,
  ),
  '/frame': html('Frame', '<p>inside the frame</p>'),
  '/about': html(
    'About',
    `<h1>About</h1><button onclick="window.close()">Close me</button>
    <button onmousedown="window.close()">Close in the middle of a click</button>`,
  ),
  '/tools': html(
    'Tools',
    `<div id="corner" style="position:absolute;left:0;top:0;width:80px;height:80px">corner</div>
    <p id="out" style="position:fixed;top:100px">nothing</p><div style="height:3000px"></div>
    <script>
      const say = (text) => { out.textContent += ' ' + text; };
      corner.onclick = () => say('clicked the corner');
      onkeydown = (event) => say('pressed ' + event.key);
      onscroll = () => say('scrolled to ' + scrollY);
    </script>`,
  ),
  '/built': html(
    'Built',
    `<button id="menu">Menu</button><p id="out">nothing</p>
    <div id="card" role="button" draggable="true" style="width:60px;height:30px">Card</div>
    <div id="knob" role="button" style="position:absolute;left:10px;top:300px;width:40px;height:40px">Knob</div>
    <div style="height:1500px"></div>
    <div id="basket" role="button" style="width:200px;height:100px">Basket</div>
    <input id="chooser" type="file" multiple hidden>
    <button onclick="chooser.click()">Choose documents</button>
    <script>
      const say = (text) => { out.textContent += ' ' + text; };
      menu.onmouseenter = () => say('over the menu');
      card.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'the card');
      basket.ondragover = (event) => event.preventDefault();
      basket.ondrop = (event) => { event.preventDefault(); say('got ' + event.dataTransfer.getData('text/plain')); };
      knob.onmousedown = () => {
        onmousemove = (event) => { knob.style.left = event.clientX + 'px'; };
        onmouseup = () => { onmousemove = onmouseup = null; say('knob at ' + knob.style.left); };
      };
      chooser.onchange = async () => {
        for (const file of chooser.files) say(file.name + ' with ' + await file.text());
      };
      onresize = () => say('now ' + innerWidth);
      for (let n = 1; n <= 9; n++) console.log('message ' + n);
      console.warn('mind this');
      fetch('/missing?of=this');
    </script>`,
  ),
  '/slow': html(
    'Slow',
    `<p id="out">Loading</p><script>setTimeout(() => { out.textContent = 'Ready now'; }, 2000);</script>`,
  ),
  '/talk': html(
    'Talk',
    `<p id="out"></p>
    <button onclick="out.textContent = 'sure: ' + confirm('Sure?'); console.error('it went wrong'); fetch('/missing')">Ask</button>
    <button onclick="window.open('/about')">New window</button>
    <a href="/report" download>Get the file</a>
    <label>Document <input type="file" onchange="out.textContent = 'chose ' + this.files[0].name"></label>`,
  ),
  '/patient': html(
    'Patient',
    `<a href="/late">Late page</a> <a href="/nothing">No page</a> <a href="/never">Never</a>
    <form action="/late"><button>Ask late</button></form>`,
  ),
  '/late': html('Late', '<h1>Here at last</h1>'),
  '/stuck': html('Stuck', `<p>before</p><button onclick="for (;;) {}">Hang</button>`),
  '/endless': html('Endless', '<p>before</p><script>for (;;) {}</script>'),
  '/moving': html(
    'Moving',
    `<p id="out">0</p><script>setInterval(() => { out.textContent = performance.now(); }, 30);</script>`,
  ),
};

/** How long the late page takes, in ms: longer than a page must be still to count as settled. */
const lateMs = 700;

/** A small site for the browser’s tests. */
export function servePage(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/never') return;
  if (url.pathname === '/report') {
    response.setHeader('content-disposition', 'attachment; filename="report.txt"');
    response.end('12345');
    return;
  }
  if (url.pathname === '/nothing') {
    response.writeHead(204).end();
    return;
  }
  const page = url.pathname === '/sent' ? html('Sent', url.search.slice(1)) : routes[url.pathname];
  response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  const answer = () => response.end(page ?? html('Missing', 'Not here'));
  if (url.pathname === '/late') setTimeout(answer, lateMs);
  else answer();
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chromium, click, shows } from '@belay/testkit';

// Moves the button away once, when the pointer approaches; no user could click it in time.
const page = `<!doctype html>
<div id="above"></div>
<button onclick="said.textContent += 'deleted '">Delete</button><br>
<button onclick="said.textContent += 'kept '">Keep</button>
<p id="said"></p>
<script>
  addEventListener('mousemove', () => {
    above.style.height = document.querySelector('button').offsetHeight + 'px';
  });
</script>`;

test('a click by name reaches only the element with that name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-clicks-'));
  const chromium = new Chromium();
  try {
    await chromium.start();
    const file = join(folder, 'page.html');
    await writeFile(file, page);
    const opened = await chromium.openFile(file);
    await click(opened, 'Keep');
    await shows(opened, '#said', /^kept ?$/);
    await click(opened, 'Delete');
    await shows(opened, '#said', /^kept deleted ?$/);
  } finally {
    await chromium.dispose();
    await rm(folder, { recursive: true });
  }
});

import { formatDuration, walkingMinutes } from './walking-time.js';

const WIDTH = 560;
const HEIGHT = 150;

export function renderPage(routes) {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Ridgeline</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/style.css">
</head>
<body>
  <header>
    <h1>Ridgeline</h1>
    <p>Three walks for a long weekend, with honest walking times.</p>
  </header>
  <main>
    ${routes.map(renderRoute).join('\n    ')}
  </main>
  <footer>Times by Naismith’s rule, rests not included.</footer>
</body>
</html>
`;
}

function renderRoute(route) {
  const time = formatDuration(walkingMinutes(route));
  return `<article class="${route.grade}">
      <div class="title">
        <h2>${route.name}</h2>
        <span class="grade">${route.grade}</span>
      </div>
      <p class="region">${route.region}</p>
      ${renderProfile(route.profile)}
      <dl>
        <div><dt>Walking time</dt><dd>${time}</dd></div>
        <div><dt>Distance</dt><dd>${route.kilometres} km</dd></div>
        <div><dt>Ascent</dt><dd>${route.ascent} m</dd></div>
      </dl>
    </article>`;
}

/** All profiles share one scale, so that a glance compares them. */
function renderProfile(heights) {
  const x = (index) => ((index * WIDTH) / (heights.length - 1)).toFixed(1);
  const y = (height) => (HEIGHT - 12 - ((height - 450) / 1400) * (HEIGHT - 30)).toFixed(1);
  const points = heights.map((height, index) => `${x(index)},${y(height)}`);
  const top = Math.max(...heights);
  const summit = heights.indexOf(top);
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Height profile, up to ${top} m">
        <polygon points="0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}"/>
        <polyline points="${points.join(' ')}"/>
        <circle cx="${x(summit)}" cy="${y(top)}" r="4.5"/>
      </svg>`;
}

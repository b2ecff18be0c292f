// Whether a pod’s network leads to an address.
const { createSocket } = require('node:dgram');
const { connect } = require('node:net');

/** A question for the name servers of the root: any answer shows that somebody is there. */
const question = Buffer.from(
  '0001 0100 0001 0000 0000 0000 00 0002 0001'.replaceAll(' ', ''),
  'hex',
);

/** Whether a connection is accepted, or with `udp` a name server answers, within the time limit in ms. */
function reaches({ host, port, udp = false }, timeoutMs) {
  return new Promise((resolve) => {
    const socket = udp
      ? createSocket(host.includes(':') ? 'udp6' : 'udp4')
      : connect({ host, port });
    const end = (is) => () => {
      clearTimeout(timer);
      resolve(is);
      if (udp) socket.close();
      else socket.destroy();
    };
    const timer = setTimeout(end(false), timeoutMs);
    socket.once(udp ? 'message' : 'connect', end(true)).once('error', end(false));
    if (udp) socket.send(question, port, host, (error) => error && socket.emit('error', error));
  });
}

module.exports = { reaches };

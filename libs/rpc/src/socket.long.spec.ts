import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./socket.spec.js'));

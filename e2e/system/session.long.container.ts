import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./session.container.js'));

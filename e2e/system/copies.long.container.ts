import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./copies.container.js'));

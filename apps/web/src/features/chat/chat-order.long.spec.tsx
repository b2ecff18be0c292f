import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./chat-order.spec'));

import './chat-order.spec';

//! What classes declare and do, as far as calls need it: mirrors of their bytes, and the hierarchy above and below.

use crate::class_file::constant_pool::MemberRef;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::{ClassFile, ConstantPool, Tag, find_attribute, opcode};
use crate::error::ClassError;
use std::collections::{BTreeSet, HashMap, HashSet};

const ACC_PRIVATE: u16 = 0x0002;
const ACC_STATIC: u16 = 0x0008;

/// A name, or a method's name and descriptor with a line break between.
pub(super) type Symbol = u32;

/// A method by its class, and its name and descriptor.
pub(super) type Id = (Symbol, Symbol);

/// Something that a method does which may run other methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Use {
    /// `invokestatic`, `invokespecial`, a method handle of these kinds.
    Exactly(Id),
    /// Everything that can be selected.
    Virtually(Id),
    /// The class may be initialised.
    Class(Symbol),
}

impl Use {
    /// The class that it names.
    pub(super) fn class(self) -> Symbol {
        match self {
            Use::Exactly((class, _)) | Use::Virtually((class, _)) | Use::Class(class) => class,
        }
    }
}

#[derive(Debug)]
pub(super) struct Method {
    pub(super) selector: Symbol,
    pub(super) uses: Vec<Use>,
    /// Overrides are possible: neither static nor private nor a constructor.
    pub(super) is_virtual: bool,
    pub(super) has_code: bool,
}

#[derive(Debug)]
pub(super) struct Class {
    above: Vec<Symbol>,
    pub(super) methods: Vec<Method>,
}

impl Class {
    /// Adds what a method does to what is known; whether that is more.
    fn add(&mut self, method: Method) -> bool {
        let Some(known) = self.methods.iter_mut().find(|known| known.selector == method.selector) else {
            self.methods.push(method);
            return true;
        };
        let before = known.uses.len();
        for one in method.uses {
            if !known.uses.contains(&one) {
                known.uses.push(one);
            }
        }
        let has_code = known.has_code;
        known.has_code |= method.has_code;
        before < known.uses.len() || has_code != known.has_code
    }
}

/// The classes inside and outside.
#[derive(Debug, Default)]
pub(super) struct Classes {
    symbols: HashMap<Box<[u8]>, Symbol>,
    texts: Vec<Box<[u8]>>,
    pub(super) inside: HashMap<Symbol, Class>,
    /// The classes above, and the selectors of methods that can be overridden.
    outside: HashMap<Symbol, (Vec<Symbol>, HashSet<Symbol>)>,
    /// The classes directly below.
    below: HashMap<Symbol, Vec<Symbol>>,
}

impl Classes {
    fn symbol(&mut self, text: &[u8]) -> Symbol {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let symbol = Symbol::try_from(self.texts.len()).unwrap_or(Symbol::MAX);
        self.texts.push(text.into());
        self.symbols.insert(text.into(), symbol);
        symbol
    }

    fn selector(&mut self, name: &[u8], descriptor: &[u8]) -> Symbol {
        self.symbol(&[name, b"\n", descriptor].concat())
    }

    pub(super) fn text(&self, symbol: Symbol) -> &[u8] {
        self.texts.get(symbol as usize).map_or(&[], |text| text)
    }

    /// The name and the descriptor of a method.
    pub(super) fn name_and_descriptor(&self, selector: Symbol) -> (&[u8], &[u8]) {
        let text = self.text(selector);
        let at = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        (&text[..at], text.get(at + 1..).unwrap_or_default())
    }

    /// A name that a class has brought; none: no class has it.
    pub(super) fn known(&self, name: &[u8]) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    /// A method of a class inside.
    pub(super) fn id(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<Id> {
        let id = (self.known(class)?, self.known(&[name, b"\n", descriptor].concat())?);
        self.method(id).map(|_| id)
    }

    /// What a call of a method by its name and descriptor may run, whatever kind of method it is; none: no class has
    /// brought these names.
    pub(super) fn call_by_name(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Vec<Id> {
        let Some(class) = self.known(class) else { return Vec::new() };
        let mut called = self.targets(Use::Class(class));
        let Some(selector) = self.known(&[name, b"\n", descriptor].concat()) else { return called };
        let overrides = !name.starts_with(b"<");
        let id = (class, selector);
        called.extend(self.targets(if overrides { Use::Virtually(id) } else { Use::Exactly(id) }));
        called
    }

    pub(super) fn method(&self, (class, selector): Id) -> Option<&Method> {
        self.inside.get(&class)?.methods.iter().find(|method| method.selector == selector)
    }

    /// Adds a class inside, by its bytes; none: nothing of it is new. Classes of one name, which loaders may have,
    /// count as one that does what each of them does. The virtual machine gives the same class in other bytes the next
    /// time.
    ///
    /// # Errors
    /// The bytes are no class file that can be followed; the class is not added.
    pub(super) fn add(&mut self, class: &[u8]) -> Result<Option<Symbol>, ClassError> {
        let file = ClassFile::parse(class)?;
        let name = self.symbol(file.name()?);
        let mut above: Vec<Symbol> = Vec::new();
        above.extend(file.super_name()?.map(|class| self.symbol(class)));
        for interface in file.interfaces() {
            above.push(self.symbol(file.pool.class_name(interface)?));
        }
        let bootstraps = bootstrap_arguments(&file)?;
        let mut methods = Vec::new();
        let mut members = file.methods();
        while let Some(member) = members.next()? {
            let (method, descriptor) = (member.name(&file.pool)?, member.descriptor(&file.pool)?);
            let code = member.code(&file.pool)?;
            let mut uses = HashSet::new();
            for instruction in code.iter().flat_map(|code| Instructions::new(code.code)).map_while(Result::ok)
            {
                self.uses(&file.pool, &bootstraps, instruction.opcode, instruction.bytes, &mut uses);
            }
            let mut uses: Vec<Use> = uses.into_iter().collect();
            // The order decides what is looked at first.
            uses.sort_unstable();
            methods.push(Method {
                selector: self.selector(method, descriptor),
                uses,
                is_virtual: member.access_flags & (ACC_PRIVATE | ACC_STATIC) == 0
                    && !method.starts_with(b"<"),
                has_code: code.is_some(),
            });
        }
        let is_known = self.inside.contains_key(&name);
        let known =
            self.inside.entry(name).or_insert_with(|| Class { above: Vec::new(), methods: Vec::new() });
        let mut is_news = !is_known;
        for one in above {
            if !known.above.contains(&one) {
                is_news = true;
                known.above.push(one);
                self.below.entry(one).or_default().push(name);
            }
        }
        for method in methods {
            is_news |= known.add(method);
        }
        Ok(is_news.then_some(name))
    }

    /// What one instruction does.
    fn uses(
        &mut self,
        pool: &ConstantPool<'_>,
        bootstraps: &[Vec<u16>],
        opcode: u8,
        bytes: &[u8],
        uses: &mut HashSet<Use>,
    ) {
        match opcode {
            opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
                let Ok(member) = pool.member_ref(u2(bytes, 1)) else { return };
                let exactly = matches!(opcode, opcode::INVOKESTATIC | opcode::INVOKESPECIAL);
                self.call(&member, exactly, uses);
                if opcode == opcode::INVOKESTATIC {
                    uses.insert(Use::Class(self.symbol(member.class)));
                }
            }
            opcode::INVOKEDYNAMIC => {
                let Ok((bootstrap, _)) = pool.pair(u2(bytes, 1), Tag::InvokeDynamic) else { return };
                for index in bootstraps.get(usize::from(bootstrap)).into_iter().flatten() {
                    self.handle(pool, *index, uses);
                }
            }
            opcode::NEW => {
                if let Ok(class) = pool.class_name(u2(bytes, 1)) {
                    uses.insert(Use::Class(self.symbol(class)));
                }
            }
            opcode::GETSTATIC | opcode::PUTSTATIC => {
                if let Ok(member) = pool.member_ref(u2(bytes, 1)) {
                    uses.insert(Use::Class(self.symbol(member.class)));
                }
            }
            opcode::LDC => self.handle(pool, u16::from(bytes[1]), uses),
            opcode::LDC_W => self.handle(pool, u2(bytes, 1), uses),
            _ => {}
        }
    }

    fn call(&mut self, member: &MemberRef<'_>, exactly: bool, uses: &mut HashSet<Use>) {
        let id = (self.symbol(member.class), self.selector(member.name, member.descriptor));
        uses.insert(if exactly { Use::Exactly(id) } else { Use::Virtually(id) });
    }

    /// A constant that may be the handle of a method (JVMS 4.4.8).
    fn handle(&mut self, pool: &ConstantPool<'_>, index: u16, uses: &mut HashSet<Use>) {
        const REF_INVOKE_VIRTUAL: u8 = 5;
        const REF_INVOKE_INTERFACE: u8 = 9;
        let Ok((kind, member)) = pool.method_handle(index) else { return };
        let Ok(member) = pool.member_ref(member) else { return };
        if kind < REF_INVOKE_VIRTUAL {
            uses.insert(Use::Class(self.symbol(member.class)));
            return;
        }
        self.call(&member, !matches!(kind, REF_INVOKE_VIRTUAL | REF_INVOKE_INTERFACE), uses);
        uses.insert(Use::Class(self.symbol(member.class)));
    }

    /// The classes above one inside of which nothing is known.
    pub(super) fn unknown(&self) -> Vec<Vec<u8>> {
        let above = self.inside.values().flat_map(|class| &class.above);
        let above = above.chain(self.outside.values().flat_map(|(above, _)| above));
        let unknown: BTreeSet<Symbol> = above
            .filter(|class| !self.inside.contains_key(class) && !self.outside.contains_key(class))
            .copied()
            .collect();
        unknown.into_iter().map(|class| self.text(class).to_vec()).collect()
    }

    /// Adds a class outside: those directly above it, and the names and descriptors of its methods that can be
    /// overridden. The classes inside that are below it.
    pub(super) fn add_outside<'m>(
        &mut self,
        name: &[u8],
        above: &[Vec<u8>],
        methods: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
    ) -> Vec<Symbol> {
        let name = self.symbol(name);
        let above: Vec<Symbol> = above.iter().map(|class| self.symbol(class)).collect();
        let methods = methods.into_iter().map(|(name, descriptor)| self.selector(name, descriptor)).collect();
        if self.inside.contains_key(&name) || self.outside.contains_key(&name) {
            return Vec::new();
        }
        for &one in &above {
            self.below.entry(one).or_default().push(name);
        }
        self.outside.insert(name, (above, methods));
        self.all_below(name).into_iter().filter(|class| self.inside.contains_key(class)).collect()
    }

    /// The methods of a class inside that override one of a class outside.
    pub(super) fn callbacks(&self, name: Symbol) -> Vec<Id> {
        let Some(class) = self.inside.get(&name) else { return Vec::new() };
        let above = self.all_above(name);
        let outside: Vec<&HashSet<Symbol>> =
            above.iter().filter_map(|class| self.outside.get(class)).map(|(_, methods)| methods).collect();
        let methods = class.methods.iter().filter(|method| method.is_virtual && method.has_code);
        let methods =
            methods.filter(|method| outside.iter().any(|methods| methods.contains(&method.selector)));
        methods.map(|method| (name, method.selector)).collect()
    }

    /// The methods with code that it may run.
    pub(super) fn targets(&self, one: Use) -> Vec<Id> {
        let mut found: Vec<Id> = match one {
            Use::Exactly((class, selector)) => {
                self.resolve(class, selector).map(|class| (class, selector)).into_iter().collect()
            }
            Use::Virtually((class, selector)) => {
                let below = self.all_below(class);
                let targets: BTreeSet<Symbol> =
                    below.into_iter().filter_map(|class| self.resolve(class, selector)).collect();
                targets.into_iter().map(|class| (class, selector)).collect()
            }
            Use::Class(class) => {
                let Some(initialiser) = self.known(b"<clinit>\n()V") else { return Vec::new() };
                self.all_above(class).into_iter().map(|class| (class, initialiser)).collect()
            }
        };
        found.retain(|id| self.method(*id).is_some_and(|method| method.has_code));
        found
    }

    /// The class inside whose method a name leads to: its own, or the first one above.
    fn resolve(&self, class: Symbol, selector: Symbol) -> Option<Symbol> {
        let mut open = vec![class];
        let mut seen = HashSet::new();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            let Some(class) = self.inside.get(&name) else { continue };
            if class.methods.iter().any(|method| method.selector == selector) {
                return Some(name);
            }
            // The superclass, which stands first, comes before the interfaces.
            open.extend(class.above.iter().rev());
        }
        None
    }

    /// A class and all below it.
    fn all_below(&self, class: Symbol) -> HashSet<Symbol> {
        closure(class, |class| self.below.get(&class).map_or(&[], Vec::as_slice))
    }

    /// A class and all above it.
    pub(super) fn all_above(&self, class: Symbol) -> HashSet<Symbol> {
        closure(class, |class| match self.inside.get(&class) {
            Some(class) => &class.above,
            None => self.outside.get(&class).map_or(&[], |(above, _)| above),
        })
    }
}

fn closure<'a>(first: Symbol, next: impl Fn(Symbol) -> &'a [Symbol]) -> HashSet<Symbol> {
    let mut found = HashSet::from([first]);
    let mut open = vec![first];
    while let Some(class) = open.pop() {
        open.extend(next(class).iter().filter(|class| found.insert(**class)));
    }
    found
}

/// The arguments of each bootstrap method (JVMS 4.7.23), as indices of the constant pool; the method itself comes
/// first.
fn bootstrap_arguments(file: &ClassFile<'_>) -> Result<Vec<Vec<u16>>, ClassError> {
    let Some(attribute) = find_attribute(file.attributes(), &file.pool, b"BootstrapMethods")? else {
        return Ok(Vec::new());
    };
    let mut words = attribute.info.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    let mut next = || words.next();
    let mut all = Vec::new();
    for _ in 0..next().unwrap_or(0) {
        let (Some(method), Some(count)) = (next(), next()) else { break };
        let mut arguments = vec![method];
        arguments.extend((0..count).map_while(|_| next()));
        all.push(arguments);
    }
    Ok(all)
}
